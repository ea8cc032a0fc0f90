"""Runs a program under SystemCallFilter and RestrictAddressFamilies of a systemd unit: under-filter.py UNIT PROGRAM [WORD...]"""

import errno
import os
import socket
import subprocess
import sys

import seccomp


def values(unit, name):
    with open(unit, encoding="utf-8") as lines:
        return [line.split("=", 1)[1].strip() for line in lines if line.startswith(name + "=")]


def calls(words):
    """The names of system calls; groups are looked up in systemd itself."""
    names = set()
    for word in words:
        if not word.startswith("@"):
            names.add(word)
            continue
        told = subprocess.run(
            ["systemd-analyze", "--no-pager", "syscall-filter", word],
            check=True, capture_output=True, text=True,
        )
        members = [line.strip() for line in told.stdout.splitlines()[1:]]
        names |= calls(member for member in members if member and not member.startswith("#"))
    return names


unit, *program = sys.argv[1:]
allowed = set()
for value in values(unit, "SystemCallFilter"):
    if value.startswith("~"):
        allowed -= calls(value[1:].split())
    else:
        allowed |= calls(value.split())
if not allowed:
    sys.exit(f"{unit} has no SystemCallFilter")

rules = seccomp.SyscallFilter(seccomp.ERRNO(errno.EPERM))
for name in allowed - {"socket"}:
    try:
        rules.add_rule(seccomp.ALLOW, name)
    except (OSError, RuntimeError, ValueError):
        # Of another processor, or newer than this libseccomp.
        continue
for family in " ".join(values(unit, "RestrictAddressFamilies")).split():
    rules.add_rule(seccomp.ALLOW, "socket", seccomp.Arg(0, seccomp.EQ, getattr(socket, family)))
rules.load()
os.execvp(program[0], program)
