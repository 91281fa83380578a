"""Maps lines to the tests that run them.

The map is collected once, stored below `.mutants`, and used for every mutant.

It is collected in batches of test files, with one process for each batch. A test file that has not
changed since its batch was stored is not collected again. The product may have changed since then,
so each batch contains the source that it ran. For a line of an unchanged function, the map returns
the tests that ran this line. For a changed function, it returns the tests that ran any of its lines.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from coverage import CoverageData

from mutants.product import (
    FunctionSource,
    Mutant,
    Product,
    Renames,
    constants_of,
    file_name,
    functions_of,
    module_name,
)
from mutants.working_copy import WorkingCopy

#: The total size in bytes of the test files in one batch. A batch takes a few minutes of CPU time.
_BATCH_BYTES = 120_000
_BATCH_TIMEOUT_S = 2400
#: Classes that run in a process started with `python -S`, which loads no recorder. The tests of such
#: a class are those of the function that starts the process.
_UNRECORDED = {
    "hosting_emulator.supervisor:Supervisor.": "hosting_emulator.supervisor:ChildCommand.begin",
}
#: Tests that compare whole responses with golden files. They run last. A mutant that only they
#: detect counts as a survivor, because renewing the golden files would accept it.
RECORD_TESTS = ("tests/golden/test_record.py",)
#: Tests that compare each declared sentence with the contract's text, or whole documents with
#: golden files.
_TESTS_OF_TEXTS = ("tests/lab/contract_check/test_sentences.py", *RECORD_TESTS)
#: Tests outside a package's own folder that read the source of its modules, with the packages whose
#: source they read. They call no function, so no recording shows what they test.
_TESTS_OF_SOURCES = {
    "tests/plugin/test_tracebacks.py": ("hosting_emulator.sdk",),
    "tests/cli/test_printed_commands.py": (
        "hosting_emulator",
        "hosting_emulator_cli",
        "pytest_hosting_emulator",
    ),
}
#: The test folders of the packages outside the emulator.
_FOLDERS = {
    "hosting_emulator_cli": "cli",
    "hosting_emulator_lab": "lab",
    "hosting_emulator_scenarios": "scenario",
    "pytest_hosting_emulator": "plugin",
}


@dataclass(frozen=True)
class Test:
    """A test that passes without a mutant."""

    __test__ = False

    id: str
    seconds: float

    @property
    def file(self) -> str:
        return self.id.partition("::")[0]


class Batch:
    """The recording of one test process."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        content = json.loads((folder / "batch.json").read_text("utf-8"))
        self.root: str = content["root"]
        self.test_files: dict[str, str] = content["test_files"]
        self.product_files: dict[str, str] = content["product_files"]
        self.records: list[dict[str, object]] = content["tests"]
        self._contexts: dict[str, dict[int, list[str]]] = {}
        self._expanded: dict[str, frozenset[str]] = {}

    @cached_property
    def _data(self) -> CoverageData:
        data = CoverageData(str(self._folder / "lines.coverage"))
        data.read()
        return data

    @cached_property
    def tests(self) -> list[Test]:
        """Return the tests that passed, in the order in which they ran."""
        return [
            Test(str(record["id"]), float(str(record["seconds"])))
            for record in self.records
            if record["outcome"] == "passed"
        ]

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {str(record["id"]): index for index, record in enumerate(self.records)}

    def lines(self, file: str) -> set[int]:
        """Return the lines of a file that ran in a test or at import."""
        return set(self._data.lines(f"{self.root}/{file}") or ())

    def contexts_by_line(self, file: str) -> dict[int, list[str]]:
        """Return the contexts in which each line of a file ran."""
        if file not in self._contexts:
            self._contexts[file] = self._data.contexts_by_lineno(f"{self.root}/{file}")
        return self._contexts[file]

    def tests_of(self, contexts: Iterable[str]) -> set[str]:
        """Return the ids of the tests that the contexts represent."""
        tests: set[str] = set()
        for context in contexts:
            if context not in self._expanded:
                self._expanded[context] = self._tests_of_context(context)
            tests |= self._expanded[context]
        return tests

    def _tests_of_context(self, context: str) -> frozenset[str]:
        """Return the tests of a context, which is a test, a fixture, or a range of consecutive tests."""
        if context.startswith("fixture ") and "|" not in context:
            base, _, name = context.removeprefix("fixture ").rpartition("::")
            return frozenset(
                str(record["id"])
                for record in self.records
                if str(record["id"]).startswith(base) and name in _texts(record["fixtures"])
            )
        if context in self._positions:
            return frozenset([context])
        first, separator, last = context.partition("|")
        if not separator:
            return frozenset()
        ends = self._tests_of_context(first) | self._tests_of_context(last)
        positions = [self._positions[test] for test in ends]
        if not positions:
            return frozenset()
        between = self.records[min(positions) : max(positions) + 1]
        return frozenset(str(record["id"]) for record in between)


def _texts(value: object) -> list[str]:
    assert isinstance(value, list)
    return value


class CoverageMap:
    """The stored batches that can still be used."""

    def __init__(self, repository: Path, folder: Path) -> None:
        self._repository = repository
        self._folder = folder
        self._sources = folder / "sources"
        self._batches = folder / "batches"
        self._product = Product(repository)

    # --- Collection -----------------------------------------------------------------------------

    def missing_files(self) -> list[str]:
        """Return the test files whose current version is in no batch."""
        owners = self._owners()
        files = _test_files(self._repository)
        return [file for file in files if file not in owners]

    def batches_to_collect(self) -> list[list[str]]:
        """Return the missing files, divided into batches of about the same size."""
        batches: list[list[str]] = []
        size = _BATCH_BYTES
        for file in self.missing_files():
            if size >= _BATCH_BYTES:
                batches.append([])
                size = 0
            batches[-1].append(file)
            size += (self._repository / file).stat().st_size
        return batches

    def collect(self, copy: WorkingCopy, files: Sequence[str]) -> str:
        """Run test files in a copy and store the recording. Returns the last line of pytest's output."""
        copy.record_processes(True)
        selected = "not packaging and not benchmark and not schemathesis and not torture"
        arguments = ["-p", "mutants_pytest_recorder", "-m", selected, "--tb", "line", *files]
        run = copy.pytest(arguments, timeout=_BATCH_TIMEOUT_S)
        last_line = run.output.strip().rpartition("\n")[2]
        records = copy.records / "tests.jsonl"
        tests: list[object] = []
        if records.exists():
            tests = [json.loads(line) for line in records.read_text("utf-8").splitlines()]
        if run.exit_code not in (0, 1, 5):
            raise RuntimeError(f"pytest ended with {run.exit_code}:\n{run.output[-3000:]}")
        self._store(copy, files, tests)
        copy.record_processes(False)
        return f"{last_line} ({run.seconds:.0f} s)"

    def _store(self, copy: WorkingCopy, files: Sequence[str], tests: list[object]) -> None:
        name = hashlib.sha256("\n".join(files).encode()).hexdigest()[:12]
        unfinished = self._folder / f"unfinished-{name}"
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        combined = CoverageData(str(unfinished / "lines.coverage"))
        for recorded in sorted(copy.records.iterdir()):
            if recorded.name.startswith(("process-", "tests-")) and recorded.suffix == "":
                data = CoverageData(str(recorded))
                data.read()
                combined.update(data)
        combined.write()
        product = Product(copy.path)
        content = {
            "root": str(copy.path),
            "test_files": {file: _digest(copy.path / file) for file in files},
            "product_files": {file: self._keep_source(copy, file) for file in product.files()},
            "tests": tests,
        }
        (unfinished / "batch.json").write_text(json.dumps(content), "utf-8")
        shutil.rmtree(self._batches / name, ignore_errors=True)
        self._batches.mkdir(exist_ok=True)
        unfinished.rename(self._batches / name)

    def _keep_source(self, copy: WorkingCopy, file: str) -> str:
        digest = _digest(copy.path / file)
        self._sources.mkdir(exist_ok=True)
        kept = self._sources / digest
        if not kept.exists():
            shutil.copy(copy.path / file, kept)
        return digest

    # --- Questions ------------------------------------------------------------------------------

    @cached_property
    def batches(self) -> list[Batch]:
        """Return the stored batches, oldest first."""
        if not self._batches.exists():
            return []
        folders = sorted(self._batches.iterdir(), key=lambda folder: folder.stat().st_mtime)
        return [Batch(folder) for folder in folders]

    def _owners(self) -> dict[str, Batch]:
        """Return, for each test file, the batch that recorded its current version."""
        owners: dict[str, Batch] = {}
        for batch in self.batches:
            for file, digest in batch.test_files.items():
                path = self._repository / file
                if path.is_file() and _digest(path) == digest:
                    owners[file] = batch
        return owners

    @cached_property
    def tests(self) -> dict[str, Test]:
        """Return each test of the map by its id."""
        return {
            test.id: test
            for file, batch in self._owners().items()
            for test in batch.tests
            if test.file == file
        }

    @cached_property
    def _batches_in_use(self) -> list[Batch]:
        used = {id(batch): batch for batch in self._owners().values()}
        return list(used.values())

    def tests_of(self, mutant: Mutant, renames: Renames) -> list[Test]:
        """Return the tests that run the changed code.

        Code that runs when its module is imported is not recorded for a test. Its tests are those of
        the functions that mention its name or, if there are none, of the module's other functions.
        The tests that read all declarations of the package are added, because the functions that
        they call do not mention the name.
        """
        function = mutant.identity.function
        ids: set[str] = set()
        if not mutant.change.runs_at_import:
            ids = self._tests_of_line(function, mutant.change.line, renames)
        if not ids and (mutant.change.runs_at_import or self._runs_at_import(function, renames)):
            ids = self._tests_of_declaration(function, renames)
            ids |= {test.id for test in self.tests.values() if reads_declarations(test, function)}
        for prefix, caller in _UNRECORDED.items():
            if function.startswith(prefix):
                ids |= self._tests_of_function(caller, renames)
        return [self.tests[test] for test in ids if test in self.tests]

    def tests_beside(self, mutant: Mutant, renames: Renames, tests: Sequence[Test]) -> list[Test]:
        """Return tests that may also run the changed code although it was not recorded for them.

        Code that runs only once, for example in a cached function or at the first import of a
        module, is recorded only for the first test that needs it. These are the other tests that
        run the mutant's module, and the other tests in the files of `tests`.
        """
        module = mutant.identity.function.partition(":")[0]
        ids: set[str] = set()
        for name in self._functions_of(module):
            ids |= self._tests_of_function(f"{module}:{name}", renames)
        files = {test.file for test in tests}
        ids |= {test.id for test in self.tests.values() if test.file in files}
        ids -= {test.id for test in tests}
        return [self.tests[test] for test in ids if test in self.tests]

    def _tests_of_line(self, function: str, line: int, renames: Renames) -> set[str]:
        module, _, name = function.partition(":")
        present = self._functions_of(module).get(name)
        tests: set[str] = set()
        for batch, recorded, by_line in self._recordings(function, renames):
            lines = set(recorded.body_lines)
            if present is not None and recorded.text == present.text:
                lines = {recorded.first_line + line - present.first_line}
            for number in lines:
                tests |= batch.tests_of(by_line.get(number, ()))
        return tests

    def _tests_of_function(self, function: str, renames: Renames) -> set[str]:
        tests: set[str] = set()
        for batch, recorded, by_line in self._recordings(function, renames):
            for number in recorded.body_lines:
                tests |= batch.tests_of(by_line.get(number, ()))
        return tests

    def _runs_at_import(self, function: str, renames: Renames) -> bool:
        return any(
            number in contexts
            for _, recorded, contexts in self._recordings(function, renames)
            for number in recorded.body_lines
        )

    def _tests_of_declaration(self, function: str, renames: Renames) -> set[str]:
        module, _, name = function.partition(":")
        own = self._functions_of(module)
        tests = self._tests_of_function(function, renames) if name in own else set()
        if tests:
            return tests
        names = {part.partition("#")[0] for part in name.split(".")}
        names |= self._constants_from(module, names)
        for file in self._product.files():
            user = module_name(file)
            for candidate in self._functions_of(user).values():
                if names & candidate.mentioned_names:
                    tests |= self._tests_of_function(f"{user}:{candidate.name}", renames)
        if tests:
            return tests
        for neighbor in own:
            tests |= self._tests_of_function(f"{module}:{neighbor}", renames)
        return tests

    def _constants_from(self, module: str, names: set[str]) -> set[str]:
        """Return `names` and the constants of the module that are computed from them, even indirectly."""
        constants = constants_of(self._source_of(module))
        reached = set(names)
        size = 0
        while size != len(reached):
            size = len(reached)
            reached |= {name for name, used in constants.items() if used & reached}
        return reached

    def tested_lines(self, file: str, source: str) -> set[int]:
        """Return the lines of a file that ran in any batch.

        If the file has changed since the recording, a line counts if a line with the same text ran
        in the same function, or outside of functions.
        """
        tested: set[int] = set()
        changed_batches = []
        for batch in self._batches_in_use:
            if batch.product_files.get(file) == _digest(self._repository / file):
                tested |= batch.lines(file)
            elif file in batch.product_files:
                changed_batches.append(batch)
        texts = [line.strip() for line in source.splitlines()]
        for batch in changed_batches:
            tested |= self._tested_texts(batch, file, source, texts)
        return tested

    def _tested_texts(self, batch: Batch, file: str, source: str, texts: Sequence[str]) -> set[int]:
        recorded_source = (self._sources / batch.product_files[file]).read_text("utf-8")
        recorded_texts = [line.strip() for line in recorded_source.splitlines()]
        run_lines = batch.lines(file)
        former: dict[str, Sequence[int]] = {"": _outside_functions(recorded_source)}
        former |= {name: f.body_lines for name, f in functions_of(recorded_source).items()}
        present: dict[str, Sequence[int]] = {"": _outside_functions(source)}
        present |= {name: f.body_lines for name, f in functions_of(source).items()}
        tested: set[int] = set()
        for name, lines in present.items():
            run_texts = {recorded_texts[n - 1] for n in former.get(name, ()) if n in run_lines}
            tested |= {number for number in lines if texts[number - 1] in run_texts}
        return tested

    def _recordings(
        self, function: str, renames: Renames
    ) -> Iterator[tuple[Batch, FunctionSource, dict[int, list[str]]]]:
        """Yield each batch that contains a function, with the function's source and the contexts of
        the lines in its file.
        """
        module, _, name = renames.old_name(function).partition(":")
        for batch in self._batches_in_use:
            for file in (f"{file_name(module)}.py", f"{file_name(module)}/__init__.py"):
                if file in batch.product_files:
                    source = (self._sources / batch.product_files[file]).read_text("utf-8")
                    if name in functions_of(source):
                        yield batch, functions_of(source)[name], batch.contexts_by_line(file)

    def _functions_of(self, module: str) -> Mapping[str, FunctionSource]:
        return functions_of(self._source_of(module))

    def _source_of(self, module: str) -> str:
        for name in (f"{file_name(module)}.py", f"{file_name(module)}/__init__.py"):
            path = self._repository / name
            if path.is_file():
                return path.read_text("utf-8")
        return ""


def reads_declarations(test: Test, function: str) -> bool:
    """Return whether a test may read any declaration in a function's package.

    This is true of the tests in the package's own test folder, the architecture tests, the tests that
    read the source of the function's module, and the tests of texts and documents that are generated
    from declarations, including the golden files of both OpenAPI documents.
    """
    module = function.partition(":")[0]
    root, *parts = module.split(".")
    folders = {"architecture", "docs", "openapi", *parts[:1], _FOLDERS.get(root, root)}
    if test.file.split("/")[1] in folders or test.file in _TESTS_OF_TEXTS:
        return True
    packages = _TESTS_OF_SOURCES.get(test.file, ())
    return any(module == package or module.startswith(f"{package}.") for package in packages)


def _test_files(repository: Path) -> list[str]:
    paths = (repository / "tests").rglob("test_*.py")
    return sorted(str(path.relative_to(repository)) for path in paths)


def _outside_functions(source: str) -> Sequence[int]:
    inside = {number for f in functions_of(source).values() for number in f.body_lines}
    return [n for n in range(1, len(source.splitlines()) + 1) if n not in inside]


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:24]
