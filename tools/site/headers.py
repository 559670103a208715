"""The public headers as pages: the head of each, then every declaration with the comment above it."""
import itertools
import re
import textwrap

NOISE = re.compile(r"#\s*(ifndef|ifdef|endif|include)\b|#define PEBBLE_\w+_H$|extern \"C\"|^}$")


def comment_lines(text):
    lines = text.strip().removeprefix("/*").removesuffix("*/").split("\n")
    return [re.sub(r"^ ?\* ?", "", line.rstrip()) if i else line.strip() for i, line in enumerate(lines)]


def prose(line, root, up):
    parts = re.split(r"(`[^`]*`)", line)
    for i in range(0, len(parts), 2):
        parts[i] = re.sub(r"([*_\[\]])", r"\\\1", parts[i]).replace("<", "&lt;")
        parts[i] = re.sub(r"docs/[\w/-]+\.md", lambda m: f"[{m[0]}]({up}{m[0]})" if (root / m[0]).exists() else m[0], parts[i])
    return "".join(parts)


def markdown(lines, root, up, code="text"):
    """A comment as Markdown: indented lines become code, the others paragraphs with links to the pages they name."""
    out = []
    for indented, part in itertools.groupby(lines, lambda line: line.startswith("  ")):
        if indented:
            out += ["", f"```{code}", textwrap.dedent("\n".join(part)), "```", ""]
        else:
            out += [prose(line, root, up) for line in part]
    return "\n".join(out).strip("\n")


def groups(text):
    """(comment, declaration) pairs: a comment at the margin belongs to what follows up to an empty line or the next comment."""
    text = re.sub(r"#ifdef __cplusplus\n.*?#endif\n", "", text, flags=re.S)
    comment, code, depth = [], [], 0
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        line = lines[at]
        if depth == 0 and line.startswith("/*"):
            if code:
                yield comment, "\n".join(code)
                comment, code = [], []
            end = at
            while "*/" not in lines[end]:
                end += 1
            comment = comment_lines("\n".join(lines[at:end + 1]))
            at = end + 1
            continue
        depth += line.count("{") - line.count("}")
        if line.strip() and (depth or not NOISE.search(line) or code and line.startswith(("#include \"", "}"))):
            code.append(line)
        elif depth == 0 and code:
            yield comment, "\n".join(code)
            comment, code = [], []
        at += 1
    if code:
        yield comment, "\n".join(code)


def names(code):
    flat = re.sub(r"/\*.*?\*/", "", code, flags=re.S)
    flat = re.sub(r"\{[^{}]*\}", "{}", re.sub(r"\{[^{}]*\}", "{}", flat))
    found = re.findall(r"^#define (\w+)|^typedef .*?(\w+);|\b(pb_\w+)\(|\b(pb_\w+)\)\(|^enum (\w+)|^\} (\w+);", flat, re.M)
    listed = list(dict.fromkeys(next(filter(None, row)) for row in found))
    return listed or list(dict.fromkeys(re.findall(r"\bPB_\w+", code)))[:1]


def page(header, root):
    """The page of one header, and its first line for the index."""
    text = header.read_text()
    end = text.index("*/") + 2
    head = comment_lines(text[:end])
    title, _, summary = head[0].partition(" -- ")
    summary = summary[:1].upper() + summary[1:]
    out = [f"# {title}", "", markdown([summary, *head[1:]], root, "../", "c"), ""]
    for comment, code in groups(text[end:]):
        listed = names(code)
        if not listed:
            continue
        more = f" and {len(listed) - 3} more" if len(listed) > 4 else ""
        out += ["## " + ", ".join(f"`{name}`" for name in (listed[:3] if more else listed)) + more, ""]
        out += [markdown(comment, root, "../"), "", "```c", code.rstrip(), "```", ""]
    return "\n".join(out), re.split(r"(?<=\.)\s", summary)[0]


def write(root, folder):
    """Every header as a page below `folder`; returns their names."""
    rows = []
    for header in sorted(root.glob("include/pebble/*.h")):
        text, summary = page(header, root)
        name = f"{header.stem}.md"
        (folder / name).write_text(text)
        rows.append((name, header.name, summary))
    body = "\n".join(f"| [`pebble/{header}`]({name}) | {summary} |" for name, header, summary in rows)
    (folder / "index.md").write_text(
        "# C library\n\n`#include <pebble/pebble.h>` loads, plans and saves; `#include <pebble/full.h>` brings all of these. How to link: [building.md](../docs/building.md#using-the-library)."
        f" What stays stable: [VERSIONING.md](../VERSIONING.md).\n\n| header | |\n|---|---|\n{body}\n")
    return [name for name, _, _ in rows]
