// SPDX-License-Identifier: GPL-2.0-only
/*
 * Descriptors and completion records against bytes written from the specification (Intel
 * DSA Architecture Specification, 341204: descriptor 64 bytes, completion record 32
 * bytes, little endian), and the numbers against Linux's header where it is installed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engines/dma/idxd.h"

#if defined(__has_include)
#if __has_include(<linux/idxd.h>)
#include <linux/idxd.h>
#define HAVE_HEADER 1
#endif
#endif

/* NOLINTNEXTLINE(performance-no-int-to-ptr): addresses that only get into descriptors */
#define AT(addr) ((void *)(uintptr_t)(addr))

static void check_bytes(const void *got, const unsigned char *expect, size_t size)
{
	const unsigned char *bytes = got;

	for (size_t i = 0; i < size; i++) {
		if (bytes[i] != expect[i])
			fail_msg("byte %zu is 0x%02x, not 0x%02x", i, bytes[i],
				 expect[i]);
	}
}

/* Description: a memory move has opcode 3 in byte 7, flags in bytes 4 to 6, the record's
 * address in 8, source in 16, destination in 24, the size in 32, and zeros elsewhere. */
static void memmove_is_as_specified(void **state)
{
	static const unsigned char expect[64] = {
		[4] = 0x0e, /* block on fault, record valid, record requested */
		[5] = 0x01, /* cache control */
		[7] = 0x03, /* memory move */
		/* completion record at 0x00007f0011223340 */
		[8] = 0x40,
		[9] = 0x33,
		[10] = 0x22,
		[11] = 0x11,
		[12] = 0x00,
		[13] = 0x7f,
		/* source 0x0102030405060708 */
		[16] = 0x08,
		[17] = 0x07,
		[18] = 0x06,
		[19] = 0x05,
		[20] = 0x04,
		[21] = 0x03,
		[22] = 0x02,
		[23] = 0x01,
		/* destination 0x1112131415161718 */
		[24] = 0x18,
		[25] = 0x17,
		[26] = 0x16,
		[27] = 0x15,
		[28] = 0x14,
		[29] = 0x13,
		[30] = 0x12,
		[31] = 0x11,
		/* size 0x80000000 */
		[35] = 0x80,
	};
	struct idxd_record record = {.status = 0x5a};
	struct idxd_desc desc;

	(void)state;
	memset(&desc, 0xff, sizeof(desc));
	idxd_desc_memmove(&desc,
			  IDXD_FLAG_BLOCK_ON_FAULT | IDXD_FLAG_RECORD_ALWAYS |
				  IDXD_FLAG_CACHE_CONTROL,
			  AT(0x1112131415161718), AT(0x0102030405060708), 0x80000000U,
			  &record);
	assert_int_equal(desc.record, (uintptr_t)&record);
	assert_int_equal(record.status, 0);
	desc.record = 0x00007f0011223340;
	check_bytes(&desc, expect, sizeof(desc));
}

/* Description: destination readback is bit 14 of the flags: 0x40 in byte 5. */
static void readback_is_as_specified(void **state)
{
	static const unsigned char expect[64] = {
		[4] = 0x0c,  [5] = 0x40,  [7] = 0x03,  [17] = 0x10,
		[25] = 0x20, [32] = 0x34, [33] = 0x12,
	};
	struct idxd_record record;
	struct idxd_desc desc;

	(void)state;
	idxd_desc_memmove(&desc, IDXD_FLAG_RECORD_ALWAYS | IDXD_FLAG_DEST_READBACK,
			  AT(0x2000), AT(0x1000), 0x1234, &record);
	desc.record = 0;
	check_bytes(&desc, expect, sizeof(desc));
}

/* Description: an element of a batch has a valid record that is not requested. */
static void element_asks_for_no_record(void **state)
{
	static const unsigned char expect[64] = {
		[4] = 0x04,  [7] = 0x03,  [17] = 0x10,
		[25] = 0x20, [32] = 0x34, [33] = 0x12,
	};
	struct idxd_record record;
	struct idxd_desc desc;

	(void)state;
	idxd_desc_memmove(&desc, 0, AT(0x2000), AT(0x1000), 0x1234, &record);
	desc.record = 0;
	check_bytes(&desc, expect, sizeof(desc));
}

/* Description: a batch has opcode 1, its list's address in byte 16, the number of its
 * descriptors in byte 32, and asks for a record. */
static void batch_is_as_specified(void **state)
{
	static const unsigned char expect[64] = {
		[4] = 0x0c, [7] = 0x01, [16] = 0x80, [17] = 0xff, [32] = 0x20,
	};
	struct idxd_record record;
	struct idxd_desc desc;

	(void)state;
	memset(&desc, 0xff, sizeof(desc));
	idxd_desc_batch(&desc, AT(0xff80), 32, &record);
	assert_int_equal(desc.record, (uintptr_t)&record);
	desc.record = 0;
	check_bytes(&desc, expect, sizeof(desc));
}

/* Description: a no-op is opcode 0 that asks for a record, and nothing else. */
static void noop_is_as_specified(void **state)
{
	static const unsigned char expect[64] = {[4] = 0x0c};
	struct idxd_record record;
	struct idxd_desc desc;

	(void)state;
	memset(&desc, 0xff, sizeof(desc));
	idxd_desc_noop(&desc, &record);
	desc.record = 0;
	check_bytes(&desc, expect, sizeof(desc));
}

/* Description: of a record, byte 0 is the status (bit 7: the fault was a write), 1 the
 * result, 4 to 7 the bytes completed, 8 to 15 the address that faulted. */
static void record_is_as_specified(void **state)
{
	static const _Alignas(32) unsigned char bytes[32] = {
		0x83, 0x01, 0x00, 0x00, 0x78, 0x56, 0x34, 0x12,
		0x00, 0xf0, 0xde, 0xbc, 0x9a, 0x78, 0x56, 0x34,
	};
	struct idxd_record record;

	(void)state;
	memcpy(&record, bytes, sizeof(bytes));
	assert_int_equal(record.status & IDXD_STATUS_MASK, IDXD_STATUS_PAGE_FAULT);
	assert_true((record.status & IDXD_STATUS_WRITE) != 0);
	assert_int_equal(record.result, 1);
	assert_int_equal(record.completed, 0x12345678);
	assert_int_equal(record.fault_addr, 0x3456789abcdef000);
}

/* Description: what a device wants aligned is: records to 32 bytes, batch lists to 64,
 * and what is polled has a cache line of its own. */
static void alignments_hold(void **state)
{
	(void)state;
	assert_int_equal(_Alignof(struct idxd_record), 32);
	assert_int_equal(sizeof(struct idxd_record), 32);
	assert_int_equal(_Alignof(struct idxd_desc), 64);
	assert_int_equal(sizeof(struct idxd_desc), 64);
	assert_int_equal(offsetof(struct idxd_wave, desc) % 64, 0);
	assert_int_equal(sizeof(((struct idxd_wave *)0)->done[0]), 64);
	assert_int_equal(sizeof(struct idxd_wave) % 64, 0);
	assert_int_equal(offsetof(struct idxd_slot, record_one) % 64, 0);
	assert_int_equal(offsetof(struct idxd_slot, user) -
				 offsetof(struct idxd_slot, record_one),
			 64);
	assert_int_equal(sizeof(struct idxd_slot) % 64, 0);
}

/* Description: opcodes, flags, statuses and offsets are those of Linux's header. */
static void numbers_are_those_of_linux(void **state)
{
	(void)state;
#if defined(HAVE_HEADER)
	assert_int_equal(IDXD_OP_NOOP, DSA_OPCODE_NOOP);
	assert_int_equal(IDXD_OP_BATCH, DSA_OPCODE_BATCH);
	assert_int_equal(IDXD_OP_MEMMOVE, DSA_OPCODE_MEMMOVE);
	assert_int_equal(IDXD_FLAG_BLOCK_ON_FAULT, IDXD_OP_FLAG_BOF);
	assert_int_equal(IDXD_FLAG_RECORD_VALID, IDXD_OP_FLAG_CRAV);
	assert_int_equal(IDXD_FLAG_RECORD_ALWAYS, IDXD_OP_FLAG_RCR);
	assert_int_equal(IDXD_FLAG_CACHE_CONTROL, IDXD_OP_FLAG_CC);
	assert_int_equal(IDXD_FLAG_DEST_READBACK, IDXD_OP_FLAG_DRDBK);
	assert_int_equal(IDXD_STATUS_NONE, DSA_COMP_NONE);
	assert_int_equal(IDXD_STATUS_SUCCESS, DSA_COMP_SUCCESS);
	assert_int_equal(IDXD_STATUS_PAGE_FAULT, DSA_COMP_PAGE_FAULT_NOBOF);
	assert_int_equal(IDXD_STATUS_PAGE_FAULT_REFUSED, DSA_COMP_PAGE_FAULT_IR);
	assert_int_equal(IDXD_STATUS_BATCH_FAILED, DSA_COMP_BATCH_FAIL);
	assert_int_equal(IDXD_STATUS_BATCH_FAULT, DSA_COMP_BATCH_PAGE_FAULT);
	assert_int_equal(IDXD_STATUS_BAD_OPCODE, DSA_COMP_BAD_OPCODE);
	assert_int_equal(IDXD_STATUS_BAD_FLAGS, DSA_COMP_INVALID_FLAGS);
	assert_int_equal(IDXD_STATUS_BAD_RESERVED, DSA_COMP_NOZERO_RESERVE);
	assert_int_equal(IDXD_STATUS_BAD_SIZE, DSA_COMP_XFER_ERANGE);
	assert_int_equal(IDXD_STATUS_BAD_COUNT, DSA_COMP_DESC_CNT_ERANGE);
	assert_int_equal(IDXD_STATUS_BAD_LIST, DSA_COMP_DESCLIST_ALIGN);
	assert_int_equal(IDXD_STATUS_HW_ERROR, DSA_COMP_HW_ERR1);
	assert_int_equal(IDXD_STATUS_MASK, DSA_COMP_STATUS_MASK);
	assert_int_equal(IDXD_STATUS_WRITE, DSA_COMP_STATUS_WRITE);
	assert_int_equal(offsetof(struct idxd_desc, record),
			 offsetof(struct dsa_hw_desc, completion_addr));
	assert_int_equal(offsetof(struct idxd_desc, src),
			 offsetof(struct dsa_hw_desc, src_addr));
	assert_int_equal(offsetof(struct idxd_desc, dst),
			 offsetof(struct dsa_hw_desc, dst_addr));
	assert_int_equal(offsetof(struct idxd_desc, size),
			 offsetof(struct dsa_hw_desc, xfer_size));
	assert_int_equal(offsetof(struct idxd_record, completed),
			 offsetof(struct dsa_completion_record, bytes_completed));
	assert_int_equal(offsetof(struct idxd_record, fault_addr),
			 offsetof(struct dsa_completion_record, fault_addr));
#else
	print_message("not asserted: linux/idxd.h is not installed\n");
	skip();
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memmove_is_as_specified),
		cmocka_unit_test(readback_is_as_specified),
		cmocka_unit_test(element_asks_for_no_record),
		cmocka_unit_test(batch_is_as_specified),
		cmocka_unit_test(noop_is_as_specified),
		cmocka_unit_test(record_is_as_specified),
		cmocka_unit_test(alignments_hold),
		cmocka_unit_test(numbers_are_those_of_linux),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
