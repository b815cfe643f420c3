"""minimise: makes a failing sequence smaller as long as it still fails: steps, messages, statements."""
import copy
import json


ENDS = ("Query", "Sync", "Flush")  # what a step has at its end, or it would not be answered


def _without(items, start, count):
    return items[:start] + items[start + count:]


def _halves(size):
    """(start, count) of pieces to leave out, large ones first."""
    count = max(1, size // 2)
    while True:
        for start in range(0, size, count):
            yield start, count
        if count == 1:
            return
        count //= 2


def _lists(sequence):
    """Every list in a sequence from which something may be left out."""
    yield sequence["steps"]
    for step in sequence["steps"]:
        messages = [step["messages"]] if "end" in step else [
            said[1] for said in step.get("say", ())]
        yield from messages
        for one in messages:
            for message in one:
                if message[0] == "Query":
                    yield message[1]


def _valid(sequence):
    """Sessions log in before they talk, and no list is empty that may not be."""
    known = set()
    for step in sequence["steps"]:
        if "login" in step:
            known.add(step["login"])
        for session in [step["end"]] if "end" in step else [s for s, _ in step.get("say", ())]:
            if session not in known:
                return False
        said = [messages for _, messages in step.get("say", ())]
        said += [step["messages"]] if step.get("messages") else []
        if not all(messages and messages[-1][0] in ENDS for messages in said):
            return False
    return bool(known) and "[\"Query\", []]" not in json.dumps(sequence["steps"])


def _smaller(sequence):
    """Candidates, each with something left out."""
    for number, items in enumerate(list(_lists(sequence))):
        for start, count in _halves(len(items)):
            candidate = copy.deepcopy(sequence)
            target = list(_lists(candidate))[number]
            target[:] = _without(target, start, count)
            if _valid(candidate):
                yield candidate


def minimise(sequence, fails, attempts=400):
    """The smallest that still fails, and how: `fails(sequence)` is a difference or None."""
    best, difference = sequence, None
    while attempts > 0:
        for candidate in _smaller(best):
            attempts -= 1
            found = fails(candidate)
            if found:
                best, difference = candidate, found
                break
            if attempts <= 0:
                break
        else:
            break
    return best, difference
