# SPDX-License-Identifier: GPL-2.0-only
# Bandwidth against block size: per arm a column of medians and two of interval ends.
# NaN in the data is a size that was not measured, and a gap here.
set datafile separator comma
set logscale x 2
set logscale y 10
set grid back linecolor rgb '#c8c8c8' linewidth 0.5
set border 3
set tics nomirror out scale 0.6
eval(YTICS)
set lmargin at screen 0.175
set rmargin at screen 0.97
set tmargin at screen 1 - 1.0 * TOP / HEIGHT
set bmargin at screen 1.0 * BOTTOM / HEIGHT
set key at screen 0.54, screen 3.0 / HEIGHT bottom center vertical maxrows KEY_ROWS \
	Left reverse samplen 3 width 1
set label 1 TITLE at screen 0.02, screen 1 - 14.0 / HEIGHT left
set label 2 PROVENANCE at screen 0.02, screen 1 - 31.0 / HEIGHT left \
	textcolor rgb '#707070'
set label 3 'bandwidth (MB/s, log scale)' at screen 0.025, screen (HEIGHT - TOP + BOTTOM) / 2.0 / HEIGHT \
	center rotate by 90
set label 4 'block size (bytes, log scale)' at screen 0.57, screen (BOTTOM - 41.0) / HEIGHT center
do for [pass = 1:2] {
	if (pass == 1) {
		set terminal svg size WIDTH,HEIGHT noenhanced font 'sans-serif,13' \
			background '#ffffff' name 'copypath'
		set output NAME.'.svg'
	} else {
		set terminal pngcairo size 2 * WIDTH,2 * HEIGHT noenhanced \
			font 'sans-serif,9' fontscale 2 linewidth 2 pointscale 2
		set output NAME.'.png'
	}
	set label 1 font (pass == 1 ? ',14' : ',10.5')
	set label 2 font (pass == 1 ? ',10.5' : ',8')
	plot for [i = 1:ARMS] CSV skip 1 using 1:3 * i - 1:3 * i:3 * i + 1 with yerrorlines \
		linecolor rgb RGB[i] pointtype MARK[i] dashtype DASH[i] linewidth 1.5 \
		pointsize 0.8 title LABEL[i]
	unset output
}
