import { mutualInhibition } from '../../capabilities/incidents/muting/index.ts'
import { type Rule, ruleBody } from '../../capabilities/incidents/rules/index.ts'
import { printable } from '../../kernel/printable.ts'
import { incidentRuleSpec, kinds, toRule } from '../../operator/index.ts'
import { type Fault, faultAt, isObject, pathText } from '../lint/fault.ts'
import { lintResources } from '../lint/lint.ts'
import {
  type LintDocument,
  type LintFile,
  type Path,
  readDocuments,
} from '../lint/read-documents.ts'

/** A fault with its place in a file. */
export type LocatedFault = { file: string; line: number; column: number; message: string }

/** The rules of files, or what is wrong with them. */
export type ReadRules = { rules: readonly Rule[]; faults: readonly LocatedFault[] }

/** Reads the IncidentRules of files, which `lint` must accept. Other kinds are skipped. */
export function readRules(files: readonly LintFile[]): ReadRules {
  const faults = lintResources(kinds, files)
    .findings.filter(({ level }) => level === 'error')
    .map(({ file, line, column, resource, path, message }): LocatedFault => {
      const about = [resource, path, message].filter((text) => text !== '').join(': ')
      return { file, line, column, message: about }
    })
  if (faults.length > 0) return { rules: [], faults }
  const found = files.flatMap(({ name, text }) => readDocuments(name, text)).flatMap(rulesIn)
  const invalid = found.flatMap((one) => ('fault' in one ? [one.fault] : []))
  const rules = found.flatMap((one) => ('rule' in one ? [one] : []))
  return {
    rules: rules.map(({ rule }) => rule),
    faults: [...invalid, ...duplicates(rules), ...mutualFaults(rules)],
  }
}

type PlacedRule = { rule: Rule; place: (message: string) => LocatedFault }

/** Returns the rules of a document: the resource itself, or the items of a List. */
function rulesIn(document: LintDocument): (PlacedRule | { fault: LocatedFault })[] {
  const read = (value: unknown, at: Path): (PlacedRule | { fault: LocatedFault })[] => {
    if (!isObject(value)) return []
    const { kind, items, metadata, spec } = value
    if (Array.isArray(items)) {
      return items.flatMap((item, index) => read(item, [...at, 'items', index]))
    }
    if (kind !== 'IncidentRule') return []
    const place = (message: string) =>
      located(document, faultAt([...at, 'metadata', 'name'], message))
    const name = isObject(metadata) ? String(metadata['name']) : ''
    const rule = ruleBody.safeParse(toRule({ name, spec: incidentRuleSpec.parse(spec) }))
    if (rule.success) return [{ rule: rule.data, place }]
    // The spec does not know the name of its resource, so that its faults are new here.
    return [{ fault: place(rule.error.issues.map(({ message }) => message).join('; ')) }]
  }
  return read(document.value, [])
}

function duplicates(rules: readonly PlacedRule[]): LocatedFault[] {
  const names = new Set<string>()
  return rules.flatMap(({ rule: { name }, place }) => {
    const isTwice = names.has(name)
    names.add(name)
    return isTwice ? [place(`the rule ${name} is defined twice, expected each name once`)] : []
  })
}

function mutualFaults(rules: readonly PlacedRule[]): LocatedFault[] {
  const path = mutualInhibition(rules.map(({ rule }) => rule))
  const [first] = rules.filter(({ rule }) => path?.includes(rule.name))
  if (path === undefined || first === undefined) return []
  return [
    first.place(`these rules inhibit each other, so none of them notifies: ${path.join(' → ')}`),
  ]
}

/** Returns the faults of a document that is not valid YAML. */
export function syntaxFaults({ file, faults }: LintDocument): LocatedFault[] {
  return faults.map(({ position, message }) => ({ file, ...position, message }))
}

/** Finds the line and column of a fault. */
export function located(document: LintDocument, { path, part, message }: Fault): LocatedFault {
  const place = pathText(path)
  return {
    file: document.file,
    ...document.positionOf(path, part),
    message: place === '' ? message : `${place}: ${message}`,
  }
}

/** Formats faults as compilers do. */
export function faultLines(faults: readonly LocatedFault[]): string {
  return faults
    .map(({ file, line, column, message }) => {
      return `${file}:${line}:${column}: error: ${printable(message)}\n`
    })
    .join('')
}
