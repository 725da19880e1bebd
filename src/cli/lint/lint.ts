import { kinds } from '../../operator/kinds/index.ts'
import { type Asked, type CommandIo, exitStatus, UsageError } from '../command.ts'
import { rendered } from '../output.ts'
import { type Finding, type LintReport, lintResources } from './lint-resources.ts'
import { readLintFiles } from './read-files.ts'

/** Checks files, prints what was found, and says so by its exit status. */
export async function lint(asked: Asked, io: CommandIo): Promise<number> {
  const paths = asked.values('filename')
  if (paths.length === 0) throw new UsageError('expected -f <file|folder|->')
  const report = lintResources(kinds, await readLintFiles(paths, io))
  io.out(rendered(asked, report, () => tableOf(report, io)))
  const counted = report.findings.filter(({ level }) => level === 'error' || asked.flag('strict'))
  return counted.length === 0 ? exitStatus.ok : exitStatus.findings
}

/** One line a finding, as compilers write them, and one that sums up. */
function tableOf(report: LintReport, io: CommandIo): string {
  const lines = report.findings.map((finding) => lineOf(finding, io))
  return [...lines, summaryOf(report)].map((line) => `${line}\n`).join('')
}

function lineOf({ file, line, column, ...finding }: Finding, io: CommandIo): string {
  const { level, resource, path, message } = finding
  const place = io.styled('bold', `${file}:${line}:${column}:`)
  const word = io.styled(level === 'error' ? 'red' : 'yellow', `${level}:`)
  const about = [resource, path].filter((text) => text !== '').join(': ')
  return `${place} ${word} ${about}${about === '' ? '' : ': '}${message}`
}

function summaryOf({ resources, findings, passed_over }: LintReport): string {
  const errors = findings.filter(({ level }) => level === 'error').length
  const others = Object.entries(passed_over)
  const passed = others.reduce((sum, [, count]) => sum + count, 0)
  const kinds = others.map(([kind, count]) => `${count} ${kind}`).join(', ')
  return [
    `${counted(resources, 'resource')}: ${counted(errors, 'error')}`,
    counted(findings.length - errors, 'warning'),
    `${passed} of other kinds passed over${kinds === '' ? '' : ` (${kinds})`}`,
  ].join(', ')
}

function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`
}
