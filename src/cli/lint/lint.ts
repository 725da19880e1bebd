import { dirname } from 'node:path'
import { apiGroup, apiVersion, type Kind, kinds } from '../../operator/index.ts'
import { type Arguments, type CommandIo, exitStatus, UsageError } from '../command.ts'
import { render } from '../output.ts'
import { type ResourceCheck, resourceCheckOf } from './check-resource.ts'
import { type Fault, faultAt, isObject, pathText, quote } from './fault.ts'
import {
  type LintDocument,
  type LintFile,
  type Path,
  type Position,
  readDocuments,
  readLintFiles,
} from './read-documents.ts'

/** Checks files and prints the findings. Exit status 1 when there are any. */
export async function lint(args: Arguments, io: CommandIo): Promise<number> {
  const paths = args.values('filename')
  if (paths.length === 0) throw new UsageError('expected -f <file|folder|->')
  const report = lintResources(kinds, await readLintFiles(paths, io))
  io.out(render(args, report, () => tableOf(report, io)))
  const counted = report.findings.filter(({ level }) => level === 'error' || args.flag('strict'))
  return counted.length === 0 ? exitStatus.ok : exitStatus.findings
}

/** Formats one line per finding, as compilers do, and a summary line. */
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
    `${pluralise(resources, 'resource')}: ${pluralise(errors, 'error')}`,
    pluralise(findings.length - errors, 'warning'),
    `${passed} of other kinds skipped${kinds === '' ? '' : ` (${kinds})`}`,
  ].join(', ')
}

function pluralise(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`
}

/** The findings, in the order of the files. */
export type LintReport = {
  /** Number of resources of the operator's kinds. */
  resources: number
  /** Number of skipped resources of other kinds, by kind. */
  passed_over: Readonly<Record<string, number>>
  findings: readonly Finding[]
}

/** A fault with its file and position. */
export type Finding = {
  file: string
  line: number
  column: number
  level: 'error' | 'warning'
  /** `RetentionPolicy looptrace/default`; empty if the file could not be parsed. */
  resource: string
  /** `spec.traces.days`; empty for the resource as a whole. */
  path: string
  message: string
}

/** Checks all resources in the files against the kinds. */
export function lintResources(kinds: readonly Kind[], files: readonly LintFile[]): LintReport {
  const linter = new Linter(kinds)
  for (const { name, text } of files) {
    for (const document of readDocuments(name, text)) linter.check(document)
  }
  return linter.report(files)
}

/** A resource's document and its path there: the root, or an item of a List. */
type Location = { document: LintDocument; at: Path }

/** Collects findings over all files. */
class Linter {
  readonly #kinds: ReadonlyMap<string, ResourceCheck>
  readonly #names = new Map<string, string>()
  readonly #findings: Finding[] = []
  readonly #passed_over: Record<string, number> = {}
  #resources = 0

  constructor(kinds: readonly Kind[]) {
    this.#kinds = new Map(kinds.map((kind) => [kind.kind, resourceCheckOf(kind, kinds)]))
  }

  check(document: LintDocument): void {
    for (const { position, message } of document.faults) {
      const { file } = document
      this.#findings.push({ file, ...position, level: 'error', resource: '', path: '', message })
    }
    if (document.value !== undefined) this.#checkValue(document.value, { document, at: [] })
  }

  report([first]: readonly LintFile[]): LintReport {
    const isEmpty = this.#resources === 0 && this.#findings.length === 0
    return {
      resources: this.#resources,
      passed_over: this.#passed_over,
      findings: isEmpty ? [noResourceWarning(first?.name ?? '')] : this.#findings,
    }
  }

  #checkValue(value: unknown, location: Location): void {
    if (!isObject(value)) {
      this.#addFaults(location, '', [faultAt([], `got ${quote(value)}, expected a resource`)])
      return
    }
    const { kind, items } = value
    if (typeof kind === 'string' && kind.endsWith('List') && Array.isArray(items)) {
      items.forEach((item, index) => {
        this.#checkValue(item, { ...location, at: [...location.at, 'items', index] })
      })
      return
    }
    this.#checkResource(value, location)
  }

  #checkResource(resource: Readonly<Record<string, unknown>>, location: Location): void {
    const kind = String(resource['kind'] ?? '')
    const version = String(resource['apiVersion'] ?? '')
    const check = this.#kinds.get(kind)
    const isOfGroup = version === apiGroup || version.startsWith(`${apiGroup}/`)
    if (isOfGroup || (check !== undefined && version === '')) {
      this.#checkOwnKind(resource, location, check)
    } else {
      this.#skip(kind, location, check !== undefined)
    }
  }

  #checkOwnKind(
    resource: Readonly<Record<string, unknown>>,
    location: Location,
    check: ResourceCheck | undefined,
  ): void {
    this.#resources += 1
    const { kind = '', apiVersion: version = '' } = resource
    const name = nameOf(String(kind), resource)
    const headerFaults = [
      ...(version === apiVersion ? [] : [unexpectedValue(['apiVersion'], version, [apiVersion])]),
      ...(check === undefined ? [unexpectedValue(['kind'], kind, [...this.#kinds.keys()])] : []),
    ]
    const isKnown = headerFaults.length === 0 && check !== undefined
    const faults = isKnown
      ? [...this.#checkName(name, resource, location), ...check(resource)]
      : headerFaults
    this.#addFaults(location, name, faults)
  }

  /** Skips a resource; warns if its kind is one of the operator's, which suggests a wrong group. */
  #skip(kind: string, location: Location, isNamedAsOurs: boolean): void {
    const name = kind === '' ? '(no kind)' : kind
    this.#passed_over[name] = (this.#passed_over[name] ?? 0) + 1
    if (!isNamedAsOurs) return
    const message = `skipped; a ${kind} of this operator has ${apiVersion}`
    this.#addFaults(location, kind, [{ ...faultAt(['apiVersion'], message), level: 'warning' }])
  }

  #checkName(
    name: string,
    { metadata }: Readonly<Record<string, unknown>>,
    location: Location,
  ): Fault[] {
    if (!isObject(metadata) || metadata['name'] === undefined) return []
    const { file } = location.document
    const { line } = positionOf(location, [], 'value')
    // Resources in another folder are often meant for another cluster.
    const identity = `${dirname(file)} ${name}`
    const first = this.#names.get(identity)
    if (first === undefined) {
      this.#names.set(identity, `${file}:${line}`)
      return []
    }
    return [faultAt(['metadata', 'name'], `is also defined at ${first}, expected each name once`)]
  }

  #addFaults(location: Location, resource: string, faults: readonly Fault[]): void {
    const { file } = location.document
    for (const { path, part, level, message } of faults) {
      const position = positionOf(location, path, part)
      this.#findings.push({ file, ...position, level, resource, path: pathText(path), message })
    }
  }
}

function unexpectedValue(path: Path, value: unknown, expected: readonly string[]): Fault {
  const words = expected.length === 1 ? '' : 'one of '
  return faultAt(path, `got ${quote(value)}, expected ${words}${expected.join(', ')}`)
}

/** Creates the warning for files without a resource, so that a wrong path does not go unnoticed. */
function noResourceWarning(file: string): Finding {
  const message = `no resource of ${apiGroup} found`
  return { file, line: 1, column: 1, level: 'warning', resource: '', path: '', message }
}

function positionOf({ document, at }: Location, path: Path, part: Fault['part']): Position {
  return document.positionOf([...at, ...path], part)
}

function nameOf(kind: string, { metadata }: Readonly<Record<string, unknown>>): string {
  const { namespace, name } = isObject(metadata) ? metadata : {}
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name ?? '(no name)'}`
}
