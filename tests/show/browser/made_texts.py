"""Texts made for the browser tests: six subjects, three labels, two years, and subjects that go together."""

import csv
import random
from datetime import date, timedelta
from pathlib import Path

SUBJECTS = {
    "court": "court judge trial lawyer jury verdict appeal sentence prison crime witness charge guilty defence case",
    "police": "police officer arrest suspect murder victim detective weapon station patrol robbery search custody",
    "football": "football goal match striker league club coach referee penalty stadium season player squad keeper",
    "tennis": "tennis serve racket tournament champion final court player set grass seed volley match rally umpire",
    "bank": "bank interest loan market shares profit investor inflation currency debt economy price growth rate",
    "cell": "cell protein gene tissue cancer patient drug therapy trial genome mutation tumour vaccine dose clinic",
}
FRIEND = {
    "court": "police", "police": "court", "football": "tennis", "tennis": "football", "bank": "cell", "cell": "bank",
}  # fmt: skip
LABELS = {
    "court": "crime", "police": "crime", "football": "sport", "tennis": "sport", "bank": "money", "cell": "science",
}  # fmt: skip
COMMON = "the of and a to in it was said on with for after new last year people".split()


def documents(n: int = 300, seed: int = 7) -> list[dict[str, str]]:
    """Documents whose main subject depends on when they were written."""
    rng = random.Random(seed)
    rows = []
    for row in range(n):
        late = row / n
        main = rng.choices(list(SUBJECTS), [1 + 3 * late, 1, 2.5 - 2 * late, 1, 1 + late, 1])[0]
        subjects = [main, rng.choice([main, FRIEND[main]])]
        sentences = [" ".join(_words(rng, subjects)) for _ in range(rng.randint(5, 9))]
        day = date(2023, 1, 2) + timedelta(days=round(720 * late))
        label = LABELS[main] if rng.random() < 0.9 else rng.choice(list(LABELS.values()))
        text = ". ".join(sentence.capitalize() for sentence in sentences) + "."
        title = f"{main.title()} report {row}"
        rows.append({"id": f"d{row}", "title": title, "date": day.isoformat(), "label": label, "text": text})
    return rows


def _words(rng: random.Random, subjects: list[str]) -> list[str]:
    """The words of a sentence; the first words of a subject are the frequent ones."""
    found = []
    for _ in range(rng.randint(8, 14)):
        words = COMMON if rng.random() < 0.35 else SUBJECTS[rng.choice(subjects)].split()
        place = rng.randrange(len(words)) if words is COMMON else int(rng.expovariate(0.2))
        found.append(words[min(place, len(words) - 1)])
    return found


def write(path: Path) -> None:
    """A CSV file of them."""
    rows = documents()
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
