import { mutualInhibition } from '../../capabilities/incidents/muting/inhibition.ts'
import type { Rule } from '../../capabilities/incidents/rules/rule.ts'
import { ruleBody } from '../../capabilities/incidents/rules/rule-faults.ts'
import { printable } from '../../kernel/printable.ts'
import { apiGroup, incidentRuleSpec, toRule } from '../../operator/index.ts'
import { type Fault, faultAt, isObject, pathText } from '../lint/fault.ts'
import { type LintDocument, type LintFile, readDocuments } from '../lint/read-documents.ts'
import { parseWritten } from '../zod-faults.ts'

/** A fault with its place in a file. */
export type LocatedFault = { file: string; line: number; column: number; message: string }

/** The rules of files, or what is wrong with them. */
export type ReadRules = { rules: readonly Rule[]; faults: readonly LocatedFault[] }

/** Reads the IncidentRules of files. Resources of other kinds are skipped. */
export function readRules(files: readonly LintFile[]): ReadRules {
  const rules = new Map<string, Rule>()
  const faults: LocatedFault[] = []
  for (const document of files.flatMap(({ name, text }) => readDocuments(name, text))) {
    faults.push(...syntaxFaults(document))
    const { value } = document
    if (!isObject(value) || value['kind'] !== 'IncidentRule') continue
    const read = readRule(value)
    if ('faults' in read) faults.push(...read.faults.map((fault) => located(document, fault)))
    else if (rules.has(read.rule.name)) {
      const message = `the rule ${read.rule.name} is defined twice, expected each name once`
      faults.push(located(document, faultAt(['metadata', 'name'], message)))
    } else rules.set(read.rule.name, read.rule)
  }
  const [first] = files
  const path = mutualInhibition([...rules.values()])
  if (path !== undefined && first !== undefined) {
    const message = `rules that inhibit each other would stay silent: ${path.join(' → ')}`
    faults.push({ file: first.name, line: 1, column: 1, message })
  }
  return { rules: [...rules.values()], faults }
}

function readRule(
  resource: Readonly<Record<string, unknown>>,
): { rule: Rule } | { faults: readonly Fault[] } {
  const { apiVersion, metadata } = resource
  if (typeof apiVersion !== 'string' || !apiVersion.startsWith(`${apiGroup}/`)) {
    return { faults: [faultAt(['apiVersion'], `expected a version of ${apiGroup}`)] }
  }
  const name = isObject(metadata) ? metadata['name'] : undefined
  if (typeof name !== 'string') return { faults: [faultAt(['metadata'], 'name is missing')] }
  const spec = parseWritten(incidentRuleSpec, resource['spec'])
  if ('faults' in spec) {
    return { faults: spec.faults.map((fault) => ({ ...fault, path: ['spec', ...fault.path] })) }
  }
  const rule = ruleBody.safeParse(toRule({ name, spec: spec.data }))
  if (rule.success) return { rule: rule.data }
  // All other faults are faults of the spec, which does not know the name of its resource.
  const message = rule.error.issues.map((issue) => issue.message).join('; ')
  return { faults: [faultAt(['metadata', 'name'], message)] }
}

/** Returns the faults of a document that is no valid YAML. */
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
    .map(
      ({ file, line, column, message }) =>
        `${file}:${line}:${column}: error: ${printable(message)}\n`,
    )
    .join('')
}
