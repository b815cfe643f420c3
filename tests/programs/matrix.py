"""matrix: how the programs fared, as the table of docs/clients.md."""
import stage

HEAD = ("program", "connect", "create", "bulk", "transaction", "RETURNING", "upsert",
        "find or create", "batched", "not batched")
BEGIN, END = "<!-- tests/programs/run --write writes this -->", "<!-- to here -->"
# "duplicate" is only compared.
SHOWN = [name for name in stage.STEPS if name != "duplicate"]


def connect_cell(private):
    return "private: " + ", ".join(sorted(private)) if private else "yes"


def step_cell(outcome):
    if not outcome.has:
        return "–"
    errors, tables = {}, {}
    for what, error in outcome.refused.items():
        table, _, how = what.partition(" ")
        errors.setdefault(how, error)
        tables.setdefault(how, []).append(table)
    return "; ".join(f"{how} ({', '.join(tables[how])}): {error}".strip()
                     for how, error in errors.items()) or "yes"


def batched_cell(outcomes):
    """The steps that had rows in batches."""
    return ", ".join(name for name in SHOWN if outcomes[name].batched) or "–"


def alone_cell(outcomes):
    """The steps that had rows outside of batches, by reason."""
    reasons = {}
    for name in SHOWN:
        for reason in sorted(outcomes[name].reasons):
            reasons.setdefault(reason, []).append(name)
    return "; ".join(f"{', '.join(names)} (`{reason}`)" for reason, names in reasons.items()) or "–"


def row(name, outcomes):
    """The cells of a program."""
    cells = [name, connect_cell(outcomes["connect"]),
             *(step_cell(outcomes[step]) for step in SHOWN), batched_cell(outcomes),
             alone_cell(outcomes)]
    return [cell.replace("|", "\\|") for cell in cells]


def lines(outcomes):
    """`outcomes`: of each program by its name."""
    return ["| " + " | ".join(HEAD) + " |", "| --- " * len(HEAD) + "|",
            *("| " + " | ".join(row(name, found)) + " |" for name, found in outcomes.items())]


def written(path):
    """The table that the file has: the cells of each program."""
    with open(path, encoding="utf-8") as file:
        found = file.read().split(BEGIN)[1].split(END)[0].strip().split("\n")[2:]
    return {cells[0]: cells for cells in (line[2:-2].split(" | ") for line in found)}


def stale(documented, found):
    """What the document says, and what is."""
    return [f"{name}: {then} | {now}" for name, then, now in zip(HEAD, documented, found) if then != now]


def write(path, outcomes):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    before, rest = text.split(BEGIN)
    with open(path, "w", encoding="utf-8") as file:
        file.write(before + BEGIN + "\n" + "\n".join(lines(outcomes)) + "\n" + END
                   + rest.split(END)[1])
