/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Text from records, policies and options is data wherever it is shown. Everything that
 * writes such text goes through one of these; each is safe on its own and shows a name as
 * itself. Line ends and tabs show as arrows (U+21B5, U+21E5), other control characters as
 * their pictures (U+2400 and up), bytes that are not UTF-8 as U+FFFD. The CSV escaper
 * alone keeps control characters, quoted after RFC 4180, since CSV is read by programs.
 *
 * Pure; write errors are the stream's (ferror()).
 */
#ifndef CP_REPORT_ESCAPE_H
#define CP_REPORT_ESCAPE_H

#include <stddef.h>
#include <stdio.h>

/* Text and attribute values. */
void cp_escape_html(FILE *out, const char *text);
/* Inline text, also in table cells. */
void cp_escape_markdown(FILE *out, const char *text);
/*
 * A whole single-quoted gnuplot string, quotes included. gnuplot reads no escapes, runs
 * no back-quoted command and expands no macro in there; only the quote is doubled. The
 * terminal must be `noenhanced`, else ^ _ @ { } are markup.
 */
void cp_escape_gnuplot(FILE *out, const char *text);
/* A whole CSV field, quoted where it has to be. */
void cp_escape_csv(FILE *out, const char *text);

/* A word as a shell would have to be given it. A line end stays one, in quotes. */
void cp_escape_shell(FILE *out, const char *word);

/*
 * The visible form of text as one line of at most max_chars characters (the last one is
 * then U+2026). Returns buf; size >= 8; what does not fit is cut at a character.
 */
char *cp_text_visible(const char *text, size_t max_chars, char *buf, size_t size);

#endif
