import { dirname, join } from 'node:path'
import { durationMs } from '../../kernel/duration.ts'
import { type Arguments, type CommandIo, exitStatus, UsageError } from '../command.ts'
import { faultAt } from '../lint/fault.ts'
import {
  type LintFile,
  type Path,
  type Position,
  readDocuments,
  readLintFiles,
} from '../lint/read-documents.ts'
import { parseWritten } from '../zod-faults.ts'
import { type CompiledTest, compileTest } from './compile-test.ts'
import { FaultSink } from './fault-sink.ts'
import { faultLines, type LocatedFault, located, readRules, syntaxFaults } from './rule-files.ts'
import { evaluations_max, runTest } from './run-test.ts'
import { type TestFile, testFileSchema } from './test-file.ts'
import { type FileReport, junitReport, type TestReport, textReport } from './test-report.ts'

/** Runs the tests of rules in files. Exit status 1 when a test fails, 2 when a file is invalid. */
export async function testRules(args: Arguments, io: CommandIo): Promise<number> {
  const selected = selectionOf(args.value('run'))
  const reports: FileReport[] = []
  for (const file of await testFilesOf(args.words, io)) {
    const loaded = await loadTests(file, io)
    io.err(faultLines(loaded.faults))
    reports.push(reportOf(loaded, selected, io))
  }
  const tests = reports.flatMap((report) => report.tests)
  const isInvalid = reports.some(({ faults }) => faults.length > 0)
  if (tests.length === 0 && !isInvalid) {
    throw new UsageError('no test was selected: check the files and --run')
  }
  io.out(render(args.value('output'), reports, io))
  if (isInvalid) return exitStatus.usage
  return tests.every(({ failures }) => failures.length === 0) ? exitStatus.ok : exitStatus.findings
}

function selectionOf(pattern: string | undefined): RegExp {
  try {
    return new RegExp(pattern ?? '', 'u')
  } catch (error) {
    throw new UsageError(`--run: ${(error as Error).message}`)
  }
}

/** Reads the given files, and the files `*_test.yaml` in the given folders. */
async function testFilesOf(paths: readonly string[], io: CommandIo): Promise<LintFile[]> {
  const files = await Promise.all(
    paths.map(async (path) => {
      const read = await readLintFiles([path], io)
      return read.filter(({ name }) => name === path || /_test\.(ya?ml|json)$/.test(name))
    }),
  )
  return files.flat()
}

function reportOf(
  { file, faults, tests, evaluation_interval, positionOf }: LoadedFile,
  selected: RegExp,
  io: CommandIo,
): FileReport {
  const reports = tests
    .filter(({ name }) => selected.test(name))
    .map((test): TestReport => {
      const begin_ms = io.now_ms()
      const { failures, ...result } = runTest(test, evaluation_interval)
      const placed = failures.map(({ path, title, differences }) => {
        return { ...positionOf(path), title, differences }
      })
      return { ...result, failures: placed, duration_ms: io.now_ms() - begin_ms }
    })
  return { file, faults, tests: reports }
}

function render(form: string | undefined, reports: readonly FileReport[], io: CommandIo): string {
  if (form === 'junit') return junitReport(reports)
  if (form === 'json') return `${JSON.stringify({ files: reports }, null, 2)}\n`
  return textReport(reports, io)
}

/** A test file that was read: its tests, or its faults. */
type LoadedFile = {
  file: string
  /** Time between two evaluations. */
  evaluation_interval: string
  tests: readonly CompiledTest[]
  faults: readonly LocatedFault[]
  /** Returns the place of a path of the file. */
  positionOf(path: Path): Position
}

/** Fields in the notation of series. */
const notationFields: ReadonlySet<string> = new Set(['values', 'samples', 'history'])

/** Reads a test file and the files with its rules. */
export async function loadTests(file: LintFile, io: Pick<CommandIo, 'stdin'>): Promise<LoadedFile> {
  const [document, ...more] = readDocuments(file.name, file.text, notationFields)
  const positionOf = (path: Path) => document?.positionOf(path, 'value') ?? { line: 1, column: 1 }
  const failed = (faults: readonly LocatedFault[]): LoadedFile => {
    return { file: file.name, evaluation_interval: '1m', tests: [], faults, positionOf }
  }
  if (document === undefined || more.length > 0) {
    const message = `got ${more.length + 1} documents, expected one`
    return failed([{ file: file.name, line: 1, column: 1, message }])
  }
  if (document.faults.length > 0) return failed(syntaxFaults(document))
  const read = parseWritten(testFileSchema, document.value ?? {})
  if ('faults' in read) return failed(read.faults.map((fault) => located(document, fault)))
  const folder = dirname(file.name)
  const paths = read.data.rule_files.map((path) => join(folder, path))
  const { rules, faults } = readRules(await readLintFiles(paths, io))
  if (faults.length > 0) return failed(faults)
  if (rules.length === 0) {
    const message = 'expected files with IncidentRules, got none'
    return failed([located(document, faultAt(['rule_files'], message))])
  }
  const sink = new FaultSink([])
  const tests = read.data.tests.map((test, index) =>
    compileTest(test, rules, sink.at('tests', index)),
  )
  checkFile(read.data, sink)
  return {
    file: file.name,
    evaluation_interval: read.data.evaluation_interval,
    positionOf,
    tests: sink.faults.length > 0 ? [] : tests,
    faults: sink.faults.map((fault) => located(document, fault)),
  }
}

function checkFile({ tests, evaluation_interval }: TestFile, sink: FaultSink): void {
  const names = new Set<string>()
  for (const [index, { name, expect }] of tests.entries()) {
    if (names.has(name)) sink.at('tests', index, 'name').add(`got ${JSON.stringify(name)} twice`)
    names.add(name)
    const end_ms = Math.max(...expect.map(({ at }) => durationMs(at)))
    if (end_ms / durationMs(evaluation_interval) <= evaluations_max) continue
    const message = `more than ${evaluations_max} evaluations. Set a longer interval, or expect earlier times.`
    sink.at('evaluation_interval').add(message)
  }
}
