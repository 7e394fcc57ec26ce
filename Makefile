# SPDX-License-Identifier: GPL-2.0-only
#
# copypath: `make help` lists what there is. `make bench` and `make test` do all set-up.

VERSION := 0.1.0

PREFIX  ?= /usr/local
DESTDIR ?=
LIBDIR  ?= $(PREFIX)/lib
DATADIR ?= $(PREFIX)/share
MANDIR  ?= $(PREFIX)/share/man
WERROR  ?= 1
V       ?= 0
DEPS    ?= 1
# The kernel lab needs an emulator, which nothing else does.
LAB     ?= $(if $(filter test-kernel,$(MAKECMDGOALS)),1,0)
SANITIZE ?=

CC      ?= gcc
AR      ?= ar
comma   := ,
B       := build$(if $(SANITIZE),/san-$(subst $(comma),-,$(SANITIZE)))
# A user's own tree is left alone by `make deps`; ours is fetched for the installed fio.
FIO_SRC_GIVEN := $(if $(filter undefined,$(origin FIO_SRC)),,1)
FIO_SRC ?= build/fio-src

CFLAGS  ?= -O2 -g
WARN    := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes \
	   -Wformat=2 -Wvla -Wcast-qual -Wswitch-enum -fno-common
WARN    += $(if $(filter 1,$(WERROR)),-Werror)
SAN     := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-omit-frame-pointer)
# The checks that a sanitizer puts in make gcc see null pointers that cannot be.
WARN    += $(if $(SANITIZE),-Wno-format-truncation -Wno-format-overflow)
CPPFLAGS_ALL := -I. -I$(B) -D_GNU_SOURCE -DCP_VERSION='"$(VERSION)"' -DCP_PREFIX='"$(PREFIX)"' \
	   -DCP_LIBDIR='"$(LIBDIR)"' $(CPPFLAGS)
CFLAGS_ALL := -std=gnu17 -fPIC -fvisibility=hidden -pthread $(WARN) $(SAN) $(CFLAGS)
# DSA is a device of x86 processors, and so is the library that finds its queues.
ACCEL   := $(if $(findstring x86_64,$(shell $(CC) -dumpmachine)),-laccel-config)
LDLIBS_ALL := -ljansson -lyaml -lhwloc -lmd -lgsl -lgslcblas -lm -lpthread $(ACCEL)
LDFLAGS_ALL := $(SAN) $(LDFLAGS)

Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),,@printf '  %-7s %s\n' '$(1)' '$(2)' >&2)
# bench and test build with every CPU unless the caller chose a -j.
par = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc)) --no-print-directory

# The rooms, in the order of their levels (tests/includes.tbl holds the rule).
ROOMS := engines/base engines/copy engines/media engines/dma engines results \
	 engines/queue engines/layer engines/swap policies report bench/plan bench/drive \
	 bench/gate
LIB_SRCS := $(foreach r,$(ROOMS),$(wildcard $(r)/*.c))
CMD_SRCS := $(wildcard bench/*.c bench/cmd/*.c)
FIO_SRCS := $(wildcard engines/fio/*.c)
# Programs that make I/Os of their own: bench/apps/NAME/*.c is copypath-NAME.
APPS := $(notdir $(wildcard bench/apps/*))
APP_SRCS := $(wildcard bench/apps/*/*.c)
LDLIBS_sqlite := -lsqlite3
TEST_SRCS := $(foreach r,$(ROOMS) bench,$(wildcard $(r)/t/*_test.c)) $(wildcard tests/*_test.c)
BENCH_SRCS := $(foreach r,$(ROOMS) engines/fio,$(wildcard $(r)/t/*_bench.c))
HELPER_SRCS := $(wildcard tests/helpers/*.c)
# Who must be compiled again when fio changes.
FIOVER_SRCS := $(FIO_SRCS) $(shell grep -l -s '"fio-version.h"' $(LIB_SRCS) $(CMD_SRCS) \
	       $(TEST_SRCS) $(HELPER_SRCS) /dev/null)

obj = $(patsubst %.c,$(B)/obj/%.o,$(1))
LIB   := $(B)/libcopypath.a
PROG  := $(B)/copypath
SYNC  := $(B)/copypath-sync.so
ASYNC := $(B)/copypath-async.so
APP_PROGS := $(APPS:%=$(B)/copypath-%)
TESTS := $(patsubst %.c,$(B)/%,$(TEST_SRCS))
BENCHES := $(patsubst %.c,$(B)/%,$(BENCH_SRCS))
HELPERS := $(patsubst %.c,$(B)/%,$(HELPER_SRCS))

all: $(PROG) $(SYNC) $(ASYNC) $(APP_PROGS)

tests: $(TESTS) $(HELPERS)
benches: $(BENCHES)

# Written anew only when different, so that other flags or another PREFIX recompile.
$(B)/flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' "$$CP_FLAGS" | cmp -s - $@ || printf '%s\n' "$$CP_FLAGS" >$@
$(B)/flags: export CP_FLAGS := $(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(LDFLAGS_ALL) $(FIO_SRC)

$(B)/obj/%.o: %.c $(B)/flags
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS_ALL) -include engines/base/banned.h $(CFLAGS_ALL) -MMD -MP -c $< -o $@

# The only code that sees fio's headers. scripts/fio-version.sh writes the header that says
# which fio they belong to, so that a mismatch is found at build and at run.
$(call obj,$(FIO_SRCS)): $(B)/obj/%.o: %.c $(B)/flags
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -isystem $(FIO_SRC) \
		-include $(FIO_SRC)/config-host.h -MMD -MP -c $< -o $@

$(call obj,$(FIOVER_SRCS)): $(B)/fio-version.h

$(B)/fio-version.h: FORCE
	$(Q)bash scripts/fio-version.sh $(FIO_SRC) $@

$(LIB): $(call obj,$(LIB_SRCS))
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(PROG): $(call obj,$(CMD_SRCS)) $(LIB)
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LDLIBS_ALL)

define app
$(B)/copypath-$(1): $(call obj,$(wildcard bench/apps/$(1)/*.c)) $(LIB)
	$$(call say,LD,$$@)
	$$(Q)$$(CC) $$(LDFLAGS_ALL) -o $$@ $$^ $$(LDLIBS_$(1)) $$(LDLIBS_ALL)
endef
$(foreach a,$(APPS),$(eval $(call app,$(a))))

$(SYNC) $(ASYNC): $(B)/copypath-%.so: $(call obj,$(FIO_SRCS)) $(LIB)
	$(call say,LD,$@)
	$(Q)$(CC) -shared $(LDFLAGS_ALL) -o $@ \
		$(filter-out $(B)/obj/engines/fio/plugin_$(if $(findstring async,$@),sync,async).o,\
		$(filter %.o,$^)) $(LIB) -Wl,--exclude-libs,ALL -Wl,-z,defs -Wl,-z,now -Wl,-z,nodelete \
		-Wl,--unresolved-symbols=ignore-all $(LDLIBS_ALL)

$(B)/%_test: $(B)/obj/%_test.o $(LIB)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ -lcmocka $(LDLIBS_ALL)

# Tests and benches that run on the emulated DSA device.
$(addprefix $(B)/engines/,$(addprefix dma/t/,channel_test idxd_test idxd_fault_test \
	idxd_bench) queue/t/idxd_test): \
	$(B)/obj/engines/dma/t/idxd_emu.o

$(B)/%_bench: $(B)/obj/%_bench.o $(LIB)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LDLIBS_ALL)

$(HELPERS): $(B)/tests/helpers/%: $(B)/obj/tests/helpers/%.o $(LIB)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LDLIBS_ALL)

-include $(patsubst %.o,%.d,$(call obj,$(LIB_SRCS) $(CMD_SRCS) $(FIO_SRCS) $(TEST_SRCS) \
	$(APP_SRCS) $(BENCH_SRCS) $(HELPER_SRCS) engines/dma/t/idxd_emu.c))

deps:
	$(Q)$(if $(filter 0,$(DEPS)),:,FIO_SRC_GIVEN=$(FIO_SRC_GIVEN) LAB=$(LAB) \
		bash scripts/deps.sh $(FIO_SRC))

ifneq ($(filter bench,$(MAKECMDGOALS)),)
STARTED := $(shell date +%s)
endif
bench: deps
	$(Q)$(MAKE) $(par) all
	$(Q)STARTED=$(STARTED) bash scripts/bench.sh $(B)

test test-long test-kernel: deps
	$(Q)$(MAKE) $(par) all tests || { echo '0 passed, 1 failed, 0 skipped'; exit 1; }
	$(Q)LONG=$(if $(filter test-long,$@),1,0) \
		KERNEL=$(if $(filter test-long,$@),also,$(if $(filter test-kernel,$@),only,no)) \
		SANITIZE=$(SANITIZE) FIO_SRC=$(FIO_SRC) \
		CC="$(CC)" bash scripts/test.sh $(B)

bench-engine: deps
	$(Q)$(MAKE) $(par) all benches
	$(Q)bash scripts/bench-engine.sh $(B)

ifneq ($(filter gate,$(MAKECMDGOALS)),)
ifeq ($(and $(BASELINE),$(CANDIDATE)),)
$(error usage: make gate BASELINE=RUN CANDIDATE=RUN)
endif
endif
gate: $(PROG)
	$(Q)$(PROG) gate $(GATE_ARGS) '$(BASELINE)' '$(CANDIDATE)'

RUN ?= results/runs/last
report: $(PROG)
	$(Q)$(PROG) report $(RUN) $(REPORT_ARGS)

lint: $(B)/fio-version.h
	$(Q)B=$(B) FIO_SRC=$(FIO_SRC) CC="$(CC)" bash scripts/lint.sh $(CHECKS)

FORMAT_SRCS = $(shell find engines kmod policies results report bench tests scripts -name '*.[ch]')
format:
	$(Q)clang-format-14 -i $(FORMAT_SRCS)

MANPAGES := $(wildcard docs/man/*.1)
DATA_FILES := $(wildcard policies/*.yaml configs/workloads/*.yaml configs/gates/*.yaml \
	      configs/machines/*.yaml report/plots/*.gp results/published/*.csv)
INSTALL ?= install
install: all
	$(Q)$(INSTALL) -d '$(DESTDIR)$(PREFIX)/bin' '$(DESTDIR)$(LIBDIR)/copypath' \
		'$(DESTDIR)$(MANDIR)/man1'
	$(Q)$(INSTALL) -m 755 $(PROG) '$(DESTDIR)$(PREFIX)/bin/'
	$(Q)$(INSTALL) -m 644 $(SYNC) $(ASYNC) '$(DESTDIR)$(LIBDIR)/copypath/'
	$(Q)set -e; for p in $(APP_PROGS); do $(INSTALL) -m 755 "$$p" '$(DESTDIR)$(LIBDIR)/copypath/'; done
	$(Q)$(INSTALL) -m 644 $(MANPAGES) '$(DESTDIR)$(MANDIR)/man1/'
	$(Q)set -e; for f in $(DATA_FILES); do \
		$(INSTALL) -D -m 644 "$$f" '$(DESTDIR)$(DATADIR)/copypath/'"$$f"; done

# Takes away what install put there, and folders only when nothing else is left in them.
uninstall:
	$(Q)rm -f '$(DESTDIR)$(PREFIX)/bin/copypath' \
		$(foreach f,$(notdir $(SYNC) $(ASYNC) $(APP_PROGS)),'$(DESTDIR)$(LIBDIR)/copypath/$(f)') \
		$(foreach f,$(notdir $(MANPAGES)),'$(DESTDIR)$(MANDIR)/man1/$(f)') \
		$(foreach f,$(DATA_FILES),'$(DESTDIR)$(DATADIR)/copypath/$(f)')
	$(Q)for d in '$(DESTDIR)$(LIBDIR)/copypath' '$(DESTDIR)$(DATADIR)/copypath'; do \
		[ ! -d "$$d" ] || find "$$d" -depth -type d -empty -delete; done

# Fetched sources and kernels stay: `make distclean` takes them too. Runs are never deleted.
clean:
	$(Q)[ ! -d build ] || find build -mindepth 1 -maxdepth 1 ! -name fio-src ! -name apt \
		! -name lab -exec rm -rf {} +
distclean:
	$(Q)rm -rf build

help:
	@cat scripts/help.txt

.PHONY: all tests benches deps bench test test-long test-kernel bench-engine gate report lint \
	format install uninstall clean distclean help FORCE
.SECONDARY:
# A recipe that fails must not leave a target that passes for whole.
.DELETE_ON_ERROR:
