# SPDX-License-Identifier: GPL-2.0-only
# Ratios to WB memcpy, a row an attribute and copy, a panel a direction. Full marks are ours,
# by provenance, open ones published; a line joins the two. NaN is not drawn.
set datafile separator comma
set datafile missing NaN
set logscale x 10
set border 1
set yrange [0.5:ROWS + 0.5]
set tics nomirror out scale 0.6
set grid xtics back linecolor rgb '#c8c8c8' linewidth 0.5
LEFT = 0.215
RIGHT = 0.975
LOWER = 1.0 * BOTTOM / HEIGHT
UPPER = 1 - (TOP + 18.0) / HEIGHT
array HUE[4] = [0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7]
array MARK[4] = [7, 5, 9, 13]
array SIZE[4] = [0.8, 0.7, 0.9, 0.9]
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
	open = pass == 1 ? 0.65 : 0.95
	set multiplot layout 1,2 margins LEFT,RIGHT,LOWER,UPPER spacing 0.035,0
	do for [d = 0:1] {
		C = 3 + 4 * d
		unset label
		unset key
		unset object
		set label 3 (d == 0 ? 'reads' : 'writes') at graph 0.5, \
			screen UPPER + 10.0 / HEIGHT center
		set label 3 font (pass == 1 ? ',13' : ',10')
		do for [b = 1:BANDS] {
			set object b rectangle from graph 0, first LOW[b] \
				to graph 1, first HIGH[b] behind fillcolor rgb '#808080' \
				fillstyle transparent solid 0.1 noborder
		}
		set arrow 1 from 1, graph 0 to 1, graph 1 nohead back \
			linecolor rgb '#707070' linewidth 1.2
		if (d == 0) {
			set ytics () scale 0
			do for [i = 1:ROWS] { set ytics add (ROW[i] i) }
			set label 1 TITLE at screen 0.02, screen 1 - 14.0 / HEIGHT left
			set label 1 font (pass == 1 ? ',14' : ',10.5')
			set label 2 PROVENANCE at screen 0.02, screen 1 - 31.0 / HEIGHT left \
				textcolor rgb '#707070'
			set label 2 font (pass == 1 ? ',10.5' : ',8')
			set label 4 'ratio to WB memcpy (log scale)' at screen \
				(LEFT + RIGHT) / 2, screen (BOTTOM - 41.0) / HEIGHT center
			set key at screen 0.03, screen 3.0 / HEIGHT bottom left vertical \
				maxrows KEY_ROWS Left reverse samplen 2 width 1
		} else {
			unset ytics
		}
		eval(XTICS)
		plot CSV skip 1 using C + 3:1:(column(C) - column(C + 3)):(0) with vectors \
				nohead linecolor rgb '#a0a0a0' linewidth 1.2 notitle, \
			CSV skip 1 using (PUBLISHED ? column(C + 3) : NaN):1 with points \
				linecolor rgb '#8a8a8a' pointtype 12 pointsize open \
				linewidth 1.4 notitle, \
			for [k = 1:KINDS] CSV skip 1 using \
				(column(2) == k ? column(C) : NaN):1:C + 1:C + 2 \
				with xerrorbars linecolor rgb HUE[k] pointtype MARK[k] \
				pointsize SIZE[k] linewidth 1.2 notitle, \
			for [k = 1:KINDS] keyentry with points linecolor rgb HUE[k] \
				pointtype MARK[k] pointsize SIZE[k] title 'here, '.KIND[k], \
			for [k = 1:PUBLISHED] keyentry with points linecolor rgb '#8a8a8a' \
				pointtype 12 pointsize open linewidth 1.4 \
				title 'published: '.SOURCE
	}
	unset multiplot
	unset output
}
