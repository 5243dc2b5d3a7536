# work.mk - make with parallel rules, functions, includes and a failing recipe that is ignored.
NAMES := a b c d e f g h
all: total
	@cat total
	-@exit 3
	@echo $(words $(NAMES)) $(shell echo from shell) $(patsubst %,<%>,$(NAMES))
%.txt:
	@echo $* > $@
total: $(NAMES:=.txt)
	@cat $^ | sort > $@
