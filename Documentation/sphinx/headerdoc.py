# SPDX-License-Identifier: MIT
"""Sphinx directive that documents a C header from its comments.

    .. c-header:: kernel/nnpu_hw.h

The path is relative to the top of the tree. Comments are kernel-doc: /** name - text,
@member: text, Return: text. What the directive prints, in the order of the header: the
comment at the head of the file; structures, unions and enumerations with their members;
functions and callback types; macros with the comment in front of them or beside them. A
member or parameter that the comment leaves out, or one that does not exist, is a warning;
so is a public function without a comment.
"""
import os
import re

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList
from sphinx.util import logging
from sphinx.util.nodes import nested_parse_with_titles

TOP = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
logger = logging.getLogger(__name__)

COMMENT = re.compile(r"/\*(.*?)\*/", re.S)
# Words that are never names of what is documented.
SKIPPED_MACROS = re.compile(r"^_|_X_|_H_?$|_LIST$|_INIT$")


def comment_lines(text):
    """Lines of a comment without its frame."""
    lines = [re.sub(r"^[ \t]*\*(?: |$)?", "", l).rstrip() for l in text.split("\n")]
    lines[0] = lines[0].lstrip("* \t")
    while lines and not lines[0]:
        lines.pop(0)
    while lines and not lines[-1]:
        lines.pop()
    return lines


def escape(text):
    """Plain text as reStructuredText: @name, %NAME and f() become literals."""
    text = re.sub(r"([\\*|`])", r"\\\1", text)
    text = re.sub(r"(\w)_(?!\w)", r"\1\\_", text)
    text = re.sub(r"(?<![\w\\])@(\w+(?:(?:\.|->)\w+)*)", r"``\1``", text)
    # A literal needs a blank or punctuation behind it.
    return re.sub(r"(``\w[\w.>-]*``)(?=\w)", r"\1\\ ", text)


def paragraphs(lines, indent):
    """Text of a comment, escaped and indented; deeper lines are literal blocks."""
    out = []
    block = []

    def flush():
        if not block:
            return
        out.append("")
        if all(l.startswith(("  ", "\t")) for l in block):
            out.append(indent + "::")
            out.append("")
            out.extend(indent + "   " + l.expandtabs() for l in block)
        else:
            out.extend(indent + escape(l.strip()) if not l.startswith("- ")
                       else indent + "- " + escape(l[2:].strip()) for l in join_items(block))
        block.clear()

    for line in lines:
        if line.strip():
            block.append(line)
        else:
            flush()
    flush()
    return out


def join_items(block):
    """A list item that goes on in the next line becomes one line."""
    out = []
    for line in block:
        if out and out[-1].startswith("- ") and not line.startswith("- "):
            out[-1] += " " + line.strip()
        elif line.startswith("- ") and out and not out[-1].startswith("- "):
            out += ["", line]
        else:
            out.append(line)
    return out


class Doc:
    """A kernel-doc comment: brief text, descriptions of names, body, Return."""

    def __init__(self, text):
        lines = comment_lines(text)
        head, _, self.brief = lines[0].partition(" - ")
        words = head.replace("()", "").split()
        self.kind = words[0] if len(words) > 1 else ""
        self.name = words[-1] if words else ""
        self.names = {}
        self.body = []
        self.returns = []
        where = None
        for line in lines[1:]:
            m = re.match(r"@([\w.]+|\.\.\.):\s*(.*)$", line)
            if m:
                where = self.names.setdefault(m.group(1), [])
                where.append(m.group(2))
            elif re.match(r"Returns?:", line):
                where = self.returns
                where.append(re.sub(r"^Returns?:\s*", "", line))
            elif not line:
                if where is self.returns:
                    where = None
                elif where is not self.body:
                    where = None
                if where is None:
                    where = self.body
                self.body.append("")
            elif where is None and not self.names and not self.body:
                self.brief += " " + line.strip()
            else:
                if where is None:
                    where = self.body
                where.append(line.strip() if where is not self.body else line)


def strip_comments(text):
    return COMMENT.sub(" ", text)


def members(body):
    """(declaration, name, comment) of the members of a structure; unions are opened."""
    out = []
    pos = 0
    depth = 0
    decl = ""
    while pos < len(body):
        m = COMMENT.match(body, pos)
        if m:
            note = " ".join(comment_lines(m.group(1)))
            if out and not decl.strip() and "\n" not in body[last:pos]:
                out[-1][2] = note
            pos = m.end()
            continue
        c = body[pos]
        if c == "{":
            depth += 1
            decl = ""
        elif c == "}":
            depth -= 1
            decl = "}"
        elif c == ";":
            text = " ".join(decl.split())
            if text.startswith("}"):
                text = ""
            m = re.search(r"\(\*(\w+)\)\s*\(", text) or re.search(r"(\w+)\s*(?:\[[^\]]*\]\s*)*(?::\s*\d+)?$", text)
            if text and m:
                out.append([text, m.group(1), ""])
            decl = ""
            last = pos
        else:
            decl += c
        pos += 1
    return out


def enumerators(body):
    out = []
    for line in body.split("\n"):
        m = re.match(r"\s*(\w+)\s*(?:=\s*([^,/]+?))?\s*,?\s*(?:/\*\s*(.*?)\s*\*/)?\s*$", line)
        if m and not line.strip().startswith(("/", "*")):
            out.append([m.group(1), m.group(2), m.group(3) or ""])
    return out


class Header:
    def __init__(self, path):
        self.path = path
        with open(os.path.join(TOP, path), encoding="utf-8") as f:
            self.text = f.read()
        self.out = []
        self.seen = set()

    def warn(self, text, pos):
        line = self.text.count("\n", 0, pos) + 1
        logger.warning("%s:%d: %s", self.path, line, text)

    def emit(self, *lines):
        self.out.extend(lines)

    def describe(self, doc, have, pos, what):
        """Each name has a description and each description a name."""
        for name in doc.names:
            if name not in have:
                self.warn(f"{what} has no {name}", pos)
        if doc.names:
            for name in have:
                if name not in doc.names:
                    self.warn(f"{what}: {name} is not described", pos)

    def body(self, doc):
        if doc.brief:
            self.emit("", "   " + escape(doc.brief.strip().rstrip(".")) + ".")
        self.emit(*paragraphs(doc.body, "   "))

    def struct(self, doc, m, pos):
        kind, name = m.group(1), m.group(2)
        end = self.closing(m.end() - 1)
        body = self.text[m.end():end]
        # A member's description may stand in front of it.
        for inline in re.finditer(r"/\*\*\s*@(\w+):\s*(.*?)\*/", body, re.S):
            doc.names[inline.group(1)] = comment_lines(inline.group(2))
        fields = members(re.sub(r"/\*\*.*?\*/", "", body, flags=re.S))
        self.emit("", f".. c:{kind}:: {name}")
        self.body(doc)
        self.describe(doc, [f[1] for f in fields], pos, f"{kind} {name}")
        for decl, field, note in fields:
            self.emit("", f"   .. c:member:: {decl}", "")
            text = " ".join(doc.names.get(field, [])) or note
            if text:
                self.emit("      " + escape(text))

    def enum(self, doc, m, pos):
        name = m.group(2)
        end = self.closing(m.end() - 1)
        body = self.text[m.end():end]
        self.emit("", f".. c:enum:: {name}")
        self.body(doc)
        listed = re.search(r"(\w+_LIST)\(", body)
        values = [] if listed else enumerators(body)
        self.describe(doc, [v[0] for v in values], pos, f"enum {name}")
        if listed:
            self.x_list(listed.group(1))
        for value, number, note in values:
            self.emit("", f"   .. c:enumerator:: {value}", "")
            text = " ".join(doc.names.get(value, [])) or note
            if number:
                text = f"{number.strip()}: {text}" if text else number.strip()
            if text:
                self.emit("      " + escape(text))

    def x_list(self, name):
        """The numbers and names of a list macro."""
        joined = self.text.replace("\\\n", " ")
        m = re.search(rf"#define {name}\(X\)(.*)", joined)
        items = re.findall(r"X\((\w+), (\w+)", m.group(1)) if m else []
        self.emit("", "   " + ", ".join(f"{n} {i}" for i, n in items) + ".")

    def closing(self, pos):
        depth = 0
        for i in range(pos, len(self.text)):
            depth += {"{": 1, "}": -1}.get(self.text[i], 0)
            if not depth:
                return i
        return len(self.text)

    def function(self, doc, declaration, pos):
        pop = []
        text = " ".join(strip_comments(declaration).split())
        text = re.sub(r"__attribute__\s*\(\(.*?\)\)\s*", "", text)
        text = re.sub(r"^(extern|static inline|static) ", "", text)
        m = re.match(r"typedef (.*)\(\*(\w+)\)\s*\((.*)\)$", text)
        if m:
            self.emit("", f".. c:type:: {m.group(1).strip()} (*{m.group(2)})({m.group(3)})")
            arguments, name = m.group(3), m.group(2)
        else:
            m = re.match(r"(.*?)(\w+)\s*\((.*)\)$", text)
            if not m:
                self.warn(f"cannot read the declaration of {doc.name}", pos)
                return
            arguments, name = m.group(3), m.group(2)
            # C has a name space for tags, Sphinx has not.
            tag = re.search(rf"\b(?:enum|struct) {name} {{", self.text)
            if tag:
                self.emit("", ".. c:namespace-push:: functions")
            self.emit("", f".. c:function:: {text}")
            if tag:
                pop = ["", ".. c:namespace-pop::"]
        self.seen.add(name)
        if name != doc.name:
            self.warn(f"the comment is about {doc.name}, the declaration about {name}", pos)
        self.body(doc)
        have = []
        for argument in re.split(r",(?![^()]*\))", arguments):
            a = re.search(r"\(\*(\w+)\)", argument) or re.search(r"(\w+)\s*(?:\[\w*\])?$", argument.strip())
            if a and a.group(1) != "void":
                have.append(a.group(1))
        self.describe(doc, have, pos, f"{name}()")
        self.emit("")
        for argument in have:
            if argument in doc.names:
                self.emit(f"   :param {argument}: " + escape(" ".join(doc.names[argument])))
        if doc.returns:
            self.emit("   :return: " + escape(" ".join(doc.returns)))
        self.emit(*pop)

    def macros(self, start, end):
        """Macros between two comments: those of a run that begins with a comment, and those
        with a comment beside them."""
        described = None        # where a macro stands that belongs to the comment
        for m in re.finditer(r"((?:^/\*(?!\*)(?:(?!\*/).)*\*/\n)?)^#define[ \t]+(\w+)((?:[^\\\n]|\\\n)*)\n?",
                             self.text[start:end], re.M | re.S):
            front, name, rest = m.groups()
            if SKIPPED_MACROS.search(name) or rest.startswith("("):
                continue
            note = re.search(r"/\*\s*(.*?)\s*\*/", rest, re.S)
            text = comment_lines(front[2:].rstrip()[:-2]) if front else []
            if note:
                text = text + [""] * bool(text) + [" ".join(comment_lines(note.group(1)))]
            if not text and m.start() != described:
                continue
            described = m.end()
            self.emit("", f".. c:macro:: {name}")
            value = " ".join(strip_comments(rest).replace("\\\n", " ").split())
            if value:
                self.emit("", f"   ``{value}``")
            self.emit(*paragraphs(text, "   "))

    def render(self):
        """The header as lines of reStructuredText."""
        intro = re.match(r"/\* SPDX[^\n]*\n/\*(?!\*)(.*?)\*/", self.text, re.S)
        pos = 0
        if intro:
            self.emit(*paragraphs(comment_lines(intro.group(1)), ""))
            pos = intro.end()
        for m in re.finditer(r"/\*\*(?!/)(.*?)\*/\n?", self.text, re.S):
            if m.start() < pos:
                continue
            self.macros(pos, m.start())
            pos = m.end()
            lines = comment_lines(m.group(1))
            if lines[0].startswith("DOC:"):
                self.emit("", ".. rubric:: " + escape(lines[0][4:].strip()))
                self.emit(*paragraphs(lines[1:], ""))
                lists = re.match(r"#define (\w+_LIST)\(", self.text[pos:])
                if lists:
                    self.emit("", "List " + lists.group(1) + ":")
                    self.x_list(lists.group(1))
                continue
            doc = Doc(m.group(1))
            rest = self.text[pos:]
            d = re.match(r"\s*(struct|union|enum) (\w+)\s*\{", rest)
            if d:
                d = re.compile(r"\s*(struct|union|enum) (\w+)\s*\{").match(self.text, pos)
                if d.group(2) != doc.name or d.group(1) != doc.kind:
                    self.warn(f"the comment is about {doc.kind} {doc.name}, "
                              f"the declaration about {d.group(1)} {d.group(2)}", pos)
                (self.enum if d.group(1) == "enum" else self.struct)(doc, d, pos)
                pos = self.closing(d.end() - 1)
                continue
            d = re.match(r"\s*#define\s+(\w+)", rest)
            if d:
                self.emit("", f".. c:macro:: {d.group(1)}")
                self.body(doc)
                continue
            d = re.match(r"[^;{]*", rest)
            self.function(doc, d.group(), pos)
            pos += d.end()
        self.macros(pos, len(self.text))
        bare = strip_comments(re.sub(r"^\s*#.*(?:\\\n.*)*$", "", self.text, flags=re.M))
        for m in re.finditer(r"^(?!static|typedef|struct \w+;)[\w *]+?\b(nnhal_\w+)\(", bare, re.M):
            if m.group(1) not in self.seen:
                self.warn(f"{m.group(1)}() has no comment", 0)
        return self.out


class HeaderDirective(Directive):
    required_arguments = 1

    def run(self):
        path = self.arguments[0]
        for source in (os.path.join(TOP, path), os.path.realpath(__file__)):
            self.state.document.settings.env.note_dependency(source)
        lines = StringList()
        for number, line in enumerate(Header(path).render()):
            lines.append(line, path, number)
        node = nodes.section()
        node.document = self.state.document
        nested_parse_with_titles(self.state, lines, node)
        return node.children


def setup(app):
    app.add_directive("c-header", HeaderDirective)
    return {"parallel_read_safe": True}
