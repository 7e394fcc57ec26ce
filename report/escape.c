// SPDX-License-Identifier: GPL-2.0-only
/* One escaper for each form of output, over one reader of characters. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "report/escape.h"

#define ELLIPSIS "\xe2\x80\xa6"

/*
 * The next character as it is to be shown, in buf (at most 4 bytes and a NUL). Returns
 * the bytes of text it took, 0 at the end.
 */
static size_t next_char(const char *text, char buf[5])
{
	const unsigned char *s = (const unsigned char *)text;
	size_t len;

	if (!s[0])
		return 0;
	if (s[0] == '\n' || s[0] == '\t') { /* arrows, which more fonts have */
		memcpy(buf, s[0] == '\n' ? "\xe2\x86\xb5" : "\xe2\x87\xa5", 4);
		return 1;
	}
	if (s[0] < 0x20 || s[0] == 0x7f) { /* U+2400 and up: pictures of controls */
		unsigned code = s[0] == 0x7f ? 0x21 : s[0];

		buf[0] = (char)0xe2;
		buf[1] = (char)0x90;
		buf[2] = (char)(0x80 + code);
		buf[3] = '\0';
		return 1;
	}
	if (s[0] < 0x80)
		len = 1;
	else if (s[0] >= 0xc2 && s[0] <= 0xdf)
		len = 2;
	else if ((s[0] & 0xf0) == 0xe0)
		len = 3;
	else if (s[0] >= 0xf0 && s[0] <= 0xf4)
		len = 4;
	else
		len = 0;
	for (size_t i = 1; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			len = 0;
	/* overlong forms, surrogates, beyond U+10FFFF, C1 controls */
	if ((len == 3 && s[0] == 0xe0 && s[1] < 0xa0) ||
	    (len == 3 && s[0] == 0xed && s[1] > 0x9f) ||
	    (len == 4 && s[0] == 0xf0 && s[1] < 0x90) ||
	    (len == 4 && s[0] == 0xf4 && s[1] > 0x8f) ||
	    (len == 2 && s[0] == 0xc2 && s[1] < 0xa0))
		len = 0;
	if (!len) {
		memcpy(buf, "\xef\xbf\xbd", 4);
		return 1;
	}
	memcpy(buf, s, len);
	buf[len] = '\0';
	return len;
}

void cp_escape_html(FILE *out, const char *text)
{
	char c[5];

	for (size_t len; (len = next_char(text, c)); text += len) {
		switch (c[0]) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		case '\'':
			fputs("&#39;", out);
			break;
		default:
			fputs(c, out);
		}
	}
}

/* "1. " and "1) " would start a list. */
static size_t list_digits(const char *text)
{
	size_t n = strspn(text, "0123456789");

	return n && (text[n] == '.' || text[n] == ')') && text[n + 1] == ' ' ? n : 0;
}

void cp_escape_markdown(FILE *out, const char *text)
{
	size_t digits = list_digits(text);
	bool first = true;
	char c[5];

	if (digits) {
		fprintf(out, "%.*s\\", (int)digits, text);
		text += digits;
	}
	for (size_t len; (len = next_char(text, c)); text += len, first = false) {
		if (c[0] == '&')
			fputs("&amp;", out);
		else if (c[0] == '<')
			fputs("&lt;", out);
		else if (c[0] == '>')
			fputs("&gt;", out);
		else if (c[0] == '@') /* no mention of anyone */
			fputs("&#64;", out);
		else if (strchr("\\`*_{}[]|~#$!", c[0]) || (first && strchr("-+=", c[0])))
			fprintf(out, "\\%s", c);
		else
			fputs(c, out);
	}
}

void cp_escape_gnuplot(FILE *out, const char *text)
{
	char c[5];

	fputc('\'', out);
	for (size_t len; (len = next_char(text, c)); text += len) {
		if (c[0] == '\'')
			fputc('\'', out);
		fputs(c, out);
	}
	fputc('\'', out);
}

void cp_escape_csv(FILE *out, const char *text)
{
	if (!text[strcspn(text, ",\"\r\n")] && text[0] != ' ') {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

char *cp_text_visible(const char *text, size_t max_chars, char *buf, size_t size)
{
	size_t used = 0, chars = 0, cut = 0;
	char c[5];

	for (size_t len; (len = next_char(text, c)); text += len) {
		size_t bytes = strlen(c);

		/* cut: where the ellipsis goes if the next character does not fit */
		if (chars < max_chars && used + sizeof(ELLIPSIS) <= size)
			cut = used;
		if (chars == max_chars || used + bytes + 1 > size) {
			memcpy(buf + cut, ELLIPSIS, sizeof(ELLIPSIS));
			return buf;
		}
		memcpy(buf + used, c, bytes);
		used += bytes;
		chars++;
	}
	buf[used] = '\0';
	return buf;
}

void cp_escape_shell(FILE *out, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-./=:,+%@";

	if (*word && !word[strspn(word, plain)]) {
		fputs(word, out);
		return;
	}
	fputc('\'', out);
	for (; *word; word++) {
		if (*word == '\'')
			fputs("'\\''", out);
		else
			fputc(*word, out);
	}
	fputc('\'', out);
}
