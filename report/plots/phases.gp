# SPDX-License-Identifier: GPL-2.0-only
# Phases of offloaded I/Os, a bar a row of the data: each part from where the one before it
# ends to its own end, in percent of their sum. Behind the bar stands the sum, the mean of the
# I/Os that were timed.
set datafile separator comma
set border 1
set xrange [0:100]
set yrange [0.4:ROWS + 0.6]
set tics nomirror out scale 0.6
set grid xtics back linecolor rgb '#c8c8c8' linewidth 0.5
set style fill solid 0.85 noborder
set ytics () scale 0
do for [i = 1:ROWS] { set ytics add (ROW[i] i) }
set xtics 0, 25, 100
set lmargin at screen 0.3
set rmargin at screen 0.74
set tmargin at screen 1 - 1.0 * TOP / HEIGHT
set bmargin at screen 1.0 * BOTTOM / HEIGHT
set key at screen 0.52, screen 3.0 / HEIGHT bottom center vertical maxrows KEY_ROWS \
	Left reverse samplen 1.5 width 1
set label 1 TITLE at screen 0.02, screen 1 - 14.0 / HEIGHT left
set label 2 PROVENANCE at screen 0.02, screen 1 - 31.0 / HEIGHT left \
	textcolor rgb '#707070'
set label 3 'share of the mean latency of timed I/Os (%)' at screen 0.52, screen (BOTTOM - 41.0) / HEIGHT \
	center
do for [i = 1:ROWS] { set label 10 + i TOTAL[i] at graph 1.02, first i left }
array HUE[4] = [0x0072b2, 0xe69f00, 0xb0b0b0, 0x009e73]
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
	do for [i = 1:ROWS] { set label 10 + i font (pass == 1 ? ',11' : ',8') }
	small = pass == 1 ? ',11' : ',8'
	set ytics font small
	set xtics font small
	plot for [k = 1:4] CSV skip 1 using \
			((k == 1 ? 0 : column(7 + k)) + column(8 + k)) / 2:1: \
			(k == 1 ? 0 : column(7 + k)):(column(8 + k)):(column(1) - 0.36): \
			(column(1) + 0.36) with boxxyerror linecolor rgb HUE[k] title PHASE[k]
	unset output
}
