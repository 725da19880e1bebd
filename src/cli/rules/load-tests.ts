import { dirname, join } from 'node:path'
import { durationMs } from '../../kernel/duration.ts'
import type { CommandIo } from '../command.ts'
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
import { type LocatedFault, located, readRules, syntaxFaults } from './rule-files.ts'
import { evaluations_max } from './run-test.ts'
import { type TestFile, testFileSchema } from './test-file.ts'

/** A test file that was read: its tests, or its faults. */
export type LoadedFile = {
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
    ...{ file: file.name, evaluation_interval: read.data.evaluation_interval, positionOf },
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
