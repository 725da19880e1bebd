import { dirname } from 'node:path'
import { apiGroup, apiVersion, type Kind, kinds } from '../../operator/index.ts'
import { type Asked, type CommandIo, exitStatus, UsageError } from '../command.ts'
import { rendered } from '../output.ts'
import { type ResourceCheck, resourceCheck } from './check-resource.ts'
import { type Fault, faultAt, isObject, pathText, quoted } from './fault.ts'
import {
  type LintDocument,
  type LintFile,
  type Path,
  type Position,
  readDocuments,
  readLintFiles,
} from './read-documents.ts'

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

/** What was found, in the order of the files. */
export type LintReport = {
  /** Resources of our kinds. */
  resources: number
  /** Resources of other kinds, by kind. */
  passed_over: Readonly<Record<string, number>>
  findings: readonly Finding[]
}

export type Finding = {
  file: string
  line: number
  column: number
  level: 'error' | 'warning'
  /** `RetentionPolicy looptrace/default`; empty where the file could not be read that far. */
  resource: string
  /** `spec.traces.days`; empty for the resource as a whole. */
  path: string
  message: string
}

/** Checks all resources of all files against the kinds. */
export function lintResources(kinds: readonly Kind[], files: readonly LintFile[]): LintReport {
  const found = new Found(kinds)
  for (const { name, text } of files) {
    for (const document of readDocuments(name, text)) found.take(document)
  }
  return found.report(files)
}

/** One resource, and where it stands in its document: at the root, or in the items of a List. */
type Place = { document: LintDocument; at: Path }

class Found {
  readonly #kinds: ReadonlyMap<string, ResourceCheck>
  readonly #names = new Map<string, string>()
  readonly #findings: Finding[] = []
  readonly #passed_over: Record<string, number> = {}
  #resources = 0

  constructor(kinds: readonly Kind[]) {
    this.#kinds = new Map(kinds.map((kind) => [kind.kind, resourceCheck(kind)]))
  }

  take(document: LintDocument): void {
    for (const { position, message } of document.faults) {
      const { file } = document
      this.#findings.push({ file, ...position, level: 'error', resource: '', path: '', message })
    }
    if (document.value !== undefined) this.#takeValue(document.value, { document, at: [] })
  }

  report([first]: readonly LintFile[]): LintReport {
    const isEmpty = this.#resources === 0 && this.#findings.length === 0
    return {
      resources: this.#resources,
      passed_over: this.#passed_over,
      findings: isEmpty ? [nothingFound(first?.name ?? '')] : this.#findings,
    }
  }

  #takeValue(value: unknown, place: Place): void {
    if (!isObject(value)) {
      this.#tell(place, '', [faultAt([], `got ${quoted(value)}, expected a resource`)])
      return
    }
    const { kind, items } = value
    if (typeof kind === 'string' && kind.endsWith('List') && Array.isArray(items)) {
      items.forEach((item, index) => {
        this.#takeValue(item, { ...place, at: [...place.at, 'items', index] })
      })
      return
    }
    this.#takeResource(value, place)
  }

  #takeResource(resource: Readonly<Record<string, unknown>>, place: Place): void {
    const kind = String(resource['kind'] ?? '')
    const version = String(resource['apiVersion'] ?? '')
    const check = this.#kinds.get(kind)
    const isOfGroup = version === apiGroup || version.startsWith(`${apiGroup}/`)
    if (isOfGroup || (check !== undefined && version === '')) {
      this.#takeOurs(resource, place, check)
    } else {
      this.#passOver(kind, place, check !== undefined)
    }
  }

  #takeOurs(
    resource: Readonly<Record<string, unknown>>,
    place: Place,
    check: ResourceCheck | undefined,
  ): void {
    this.#resources += 1
    const { kind = '', apiVersion: version = '' } = resource
    const name = nameOf(String(kind), resource)
    const wrong = [
      ...(version === apiVersion ? [] : [notThat(['apiVersion'], version, [apiVersion])]),
      ...(check === undefined ? [notThat(['kind'], kind, [...this.#kinds.keys()])] : []),
    ]
    const isKnown = wrong.length === 0 && check !== undefined
    const faults = isKnown ? [...this.#checkName(name, resource, place), ...check(resource)] : wrong
    this.#tell(place, name, faults)
  }

  /** A kind of ours under another group is rather a slip than somebody else's. */
  #passOver(kind: string, place: Place, isNamedAsOurs: boolean): void {
    const name = kind === '' ? '(no kind)' : kind
    this.#passed_over[name] = (this.#passed_over[name] ?? 0) + 1
    if (!isNamedAsOurs) return
    const message = `passed over; a ${kind} of ours has ${apiVersion}`
    this.#tell(place, kind, [{ ...faultAt(['apiVersion'], message), level: 'warning' }])
  }

  #checkName(name: string, { metadata }: Readonly<Record<string, unknown>>, place: Place): Fault[] {
    if (!isObject(metadata) || metadata['name'] === undefined) return []
    const { file } = place.document
    const { line } = positionOf(place, [], 'value')
    // What stands in another folder is often meant for another cluster.
    const identity = `${dirname(file)} ${name}`
    const first = this.#names.get(identity)
    if (first === undefined) {
      this.#names.set(identity, `${file}:${line}`)
      return []
    }
    return [faultAt(['metadata', 'name'], `stands at ${first} too, expected each name once`)]
  }

  #tell(place: Place, resource: string, faults: readonly Fault[]): void {
    const { file } = place.document
    for (const { path, part, level, message } of faults) {
      const position = positionOf(place, path, part)
      this.#findings.push({ file, ...position, level, resource, path: pathText(path), message })
    }
  }
}

function notThat(path: Path, value: unknown, expected: readonly string[]): Fault {
  const words = expected.length === 1 ? '' : 'one of '
  return faultAt(path, `got ${quoted(value)}, expected ${words}${expected.join(', ')}`)
}

/** A path that is wrong would else pass for ever. */
function nothingFound(file: string): Finding {
  const message = `no resource of ${apiGroup} was found`
  return { file, line: 1, column: 1, level: 'warning', resource: '', path: '', message }
}

function positionOf({ document, at }: Place, path: Path, part: Fault['part']): Position {
  return document.positionOf([...at, ...path], part)
}

function nameOf(kind: string, { metadata }: Readonly<Record<string, unknown>>): string {
  const { namespace, name } = isObject(metadata) ? metadata : {}
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name ?? '(no name)'}`
}
