# SPDX-License-Identifier: GPL-2.0-only
# The policy's arm for each block size and load. Hatching over a box: undecided.
set datafile separator comma
set logscale x 2
set border 3
set tics nomirror out scale 0.6
set lmargin at screen 0.19
set rmargin at screen 0.97
set tmargin at screen 1 - 1.0 * TOP / HEIGHT
set bmargin at screen 1.0 * BOTTOM / HEIGHT
set key at screen 0.54, screen 3.0 / HEIGHT bottom center vertical maxrows KEY_ROWS \
	Left reverse samplen 2 width 1
set style fill transparent solid 0.4 border
set label 1 TITLE at screen 0.02, screen 1 - 14.0 / HEIGHT left
set label 2 PROVENANCE at screen 0.02, screen 1 - 31.0 / HEIGHT left \
	textcolor rgb '#707070'
set label 3 'jobs x iodepth' at screen 0.025, screen (HEIGHT - TOP + BOTTOM) / 2.0 / HEIGHT \
	center rotate by 90
set label 4 'block size (bytes, log scale)' at screen 0.58, screen (BOTTOM - 41.0) / HEIGHT center
middle(a, b) = sqrt(a * b)
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
	small = pass == 1 ? ',10' : ',7.5'
	plot for [i = 0:ARMS] CSV skip 1 using (column(4) == i ? middle($2, $3) : NaN):1:2:3:\
			(column(1) - 0.42):(column(1) + 0.42) with boxxyerror \
			linecolor rgb (i ? RGB[i] : 0x909090) notitle, \
		CSV skip 1 using (column(5) == 0 ? middle($2, $3) : NaN):1:2:3:\
			(column(1) - 0.42):(column(1) + 0.42) with boxxyerror \
			fill transparent pattern 5 noborder linecolor rgb '#8c8c8c' notitle, \
		CSV skip 1 using (middle($2, $3)):(column(1) + 0.14):6 with labels notitle, \
		CSV skip 1 using (middle($2, $3)):(column(1) - 0.2):7 with labels \
			font small notitle, \
		for [i = 1:ARMS] keyentry with boxes linecolor rgb RGB[i] title LABEL[i], \
		keyentry with boxes fill transparent pattern 5 linecolor rgb '#8c8c8c' \
			title 'undecided'
	unset output
}
