import { dirname, join } from 'node:path'
import { durationMs } from '../../kernel/duration.ts'
import { printable } from '../../kernel/printable.ts'
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
import { evaluations_max, runTest, type TestResult } from './run-test.ts'
import { type TestFile, testFileSchema } from './test-file.ts'

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

/** The results of a test file. */
type FileReport = {
  file: string
  faults: readonly LocatedFault[]
  tests: readonly TestReport[]
}

/** The result of a test, with the places of its failures. */
type TestReport = Omit<TestResult, 'failures'> & {
  failures: readonly {
    line: number
    column: number
    title: string
    differences: readonly string[]
  }[]
  duration_ms: number
}

/** Formats results for people: a line for each test, and the timeline of those that fail. */
function textReport(files: readonly FileReport[], io: Pick<CommandIo, 'styled'>): string {
  const lines = files.flatMap(({ file, tests }) => [
    ...(tests.length === 0 ? [] : [io.styled('bold', file)]),
    ...tests.flatMap((test) => testLines(file, test, io)),
  ])
  const tests = files.flatMap((one) => one.tests)
  const failed = tests.filter(({ failures }) => failures.length > 0).length
  const invalid = files.filter(({ faults }) => faults.length > 0).length
  const counts = [`${tests.length - failed} passed`, `${failed} failed`]
  if (invalid > 0) counts.push(`${invalid} files invalid`)
  return [...lines, counts.join(', ')].map((line) => `${line}\n`).join('')
}

function testLines(file: string, test: TestReport, io: Pick<CommandIo, 'styled'>): string[] {
  const { failures } = test
  const name = printable(test.name)
  if (failures.length === 0) return [`  ${io.styled('green', 'ok')}    ${name}`]
  return [
    `  ${io.styled('red', 'FAIL')}  ${name}`,
    ...failureText(file, test)
      .split('\n')
      .map((line) => `        ${printable(line)}`),
  ]
}

/** Formats the differences of a test and its timeline. */
function failureText(file: string, { failures, timeline }: TestReport): string {
  return [
    ...failures.flatMap(({ line, column, title, differences }) => [
      `${file}:${line}:${column}: ${title}`,
      ...differences.map((difference) => `  ${difference}`),
    ]),
    'timeline:',
    ...(timeline.length === 0 ? ['  nothing happened'] : timeline.map((entry) => `  ${entry}`)),
  ].join('\n')
}

/** Formats results as JUnit XML, as CI systems read it. Faults of a file are an error. */
function junitReport(files: readonly FileReport[]): string {
  const suites = files.map((file) => {
    const failures = file.tests.filter((test) => test.failures.length > 0).length
    const errors = file.faults.length > 0 ? 1 : 0
    const cases = [...file.tests.map((test) => testCase(file.file, test)), ...errorCase(file)]
    return [
      `  <testsuite name="${escaped(file.file)}" tests="${file.tests.length + errors}" failures="${failures}" errors="${errors}">`,
      ...cases,
      '  </testsuite>',
    ].join('\n')
  })
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<testsuites>',
    ...suites,
    '</testsuites>',
    '',
  ].join('\n')
}

function testCase(file: string, test: TestReport): string {
  const seconds = (test.duration_ms / 1000).toFixed(3)
  const open = `    <testcase classname="${escaped(file)}" name="${escaped(test.name)}" time="${seconds}"`
  if (test.failures.length === 0) return `${open}/>`
  const [first] = test.failures
  const message = escaped([first?.title, first?.differences[0]].join(': '))
  const text = escaped(failureText(file, test))
  return `${open}>\n      <failure message="${message}">${text}</failure>\n    </testcase>`
}

function errorCase({ file, faults }: FileReport): string[] {
  const [first] = faults
  if (first === undefined) return []
  const lines = faults.map((one) => `${one.file}:${one.line}:${one.column}: ${one.message}`)
  return [
    `    <testcase classname="${escaped(file)}" name="(file)">\n      <error message="${escaped(first.message)}">${escaped(lines.join('\n'))}</error>\n    </testcase>`,
  ]
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}

/** Escapes text for XML 1.0, which cannot contain most control characters. */
function escaped(text: string): string {
  return text
    .replaceAll(/[&<>"']/g, (character) => entities[character] ?? '')
    .replaceAll(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD')
}
