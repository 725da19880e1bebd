import { type Arguments, type CommandIo, exitStatus, UsageError } from '../command.ts'
import { type LintFile, readLintFiles } from '../lint/read-documents.ts'
import { type LoadedFile, loadTests } from './load-tests.ts'
import { faultLines } from './rule-files.ts'
import { runTest } from './run-test.ts'
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
