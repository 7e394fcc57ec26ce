# SPDX-License-Identifier: GPL-2.0-only
# CPU against bandwidth, one panel a block size, all with the same axes. Rows of the data
# are in order of bandwidth within a panel, so the front is drawn as one line over them.
set datafile separator comma
set datafile missing NaN
set logscale x 10
set border 3
set tics nomirror out scale 0.6
set grid back linecolor rgb '#c8c8c8' linewidth 0.5
LEFT = 0.135
RIGHT = 0.955
LOW = 1.0 * BOTTOM / HEIGHT
HIGH = 1 - 1.0 * TOP / HEIGHT
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
	unset lmargin
	unset rmargin
	unset tmargin
	unset bmargin
	set border 3
	set tics nomirror out scale 0.6
	set xtics nomirror out scale 0.6
	set ytics nomirror out scale 0.6
	set grid back linecolor rgb '#c8c8c8' linewidth 0.5
	set multiplot layout ROWS,2 margins LEFT,RIGHT,LOW,HIGH spacing 0.04,14.0 / HEIGHT
	do for [p = 1:PANELS] {
		unset label
		unset key
		set label 3 SIZE[p] at graph 0.04, graph 0.9 left front
		set label 3 font (pass == 1 ? ',13' : ',10')
		if (p == 1) {
			set label 1 TITLE at screen 0.02, screen 1 - 14.0 / HEIGHT left
			set label 1 font (pass == 1 ? ',14' : ',10.5')
			set label 2 PROVENANCE at screen 0.02, screen 1 - 31.0 / HEIGHT left \
				textcolor rgb '#707070'
			set label 2 font (pass == 1 ? ',10.5' : ',8')
			set label 4 'CPU (% of one CPU)' at screen 0.025, screen \
				(LOW + HIGH) / 2 center rotate by 90
			set label 5 'bandwidth (MB/s, log scale)' at screen (LEFT + RIGHT) / 2, screen \
				(BOTTOM - 41.0) / HEIGHT center
		}
		# the lowest panel of each column carries the axis
		if (p + 2 > PANELS) { eval(XTICS) } else { eval(XBARE) }
		set format y (p % 2 == 1 ? '%g' : '')
		plot CSV skip 1 using (column(1) == p && column(10) == 1 ? column(4) : NaN):7 \
				with lines linecolor rgb '#909090' linewidth 1.5 notitle, \
			for [i = 1:ARMS] CSV skip 1 using \
				(column(1) == p && column(2) == i ? column(4) : NaN):7:5:6:8:9 \
				with xyerrorbars linecolor rgb RGB[i] pointtype MARK[i] \
				pointsize 0.9 notitle, \
			CSV skip 1 using (column(1) == p && column(11) == 1 ? column(4) : NaN):7 \
				with points linecolor rgb 'black' pointtype 6 pointsize 1.9 \
				linewidth 1.5 notitle
	}
	# the legend on its own: within a panel it would have no more rows than fit there
	unset label
	unset arrow
	unset grid
	unset xtics
	unset ytics
	set border 0
	set lmargin at screen 0
	set rmargin at screen 1
	set bmargin at screen 0
	set tmargin at screen 1
	set key at screen 0.54, screen 3.0 / HEIGHT bottom center vertical \
		maxrows KEY_ROWS Left reverse samplen 2 width 1
	plot NaN notitle, \
		for [i = 1:ARMS] keyentry with points linecolor rgb RGB[i] \
			pointtype MARK[i] title LABEL[i], \
		keyentry with lines linecolor rgb '#909090' linewidth 1.5 \
			title 'Pareto front', \
		keyentry with points linecolor rgb 'black' pointtype 6 pointsize 1.5 \
			linewidth 1.5 title "the policy's choice"
	unset multiplot
	unset output
}
