import sax from 'sax'
import type { EvalCase } from '../evidence/eval-case.ts'
import { type CaseCollector, collectCases, EvalFileFault } from './read-cases.ts'

/** Maximum depth of elements. Reports of test tools have up to six. */
const depth_max = 32

/** Maximum attributes of an element. Reports of test tools have up to ten. */
const attributes_max = 100

/**
 * Reads a JUnit report. Each `<testcase>` is a case with the id `classname.name`, the group
 * `classname` and the duration `time`. A case with `<failure>` or `<error>` has failed; a case with
 * `<skipped>` is left out. Properties of the test case give `repeat`, `cluster`, `score` and
 * `cost_usd`. Messages and outputs are ignored. Document types are refused, so that no entity is
 * declared or expanded. Throws `EvalFileFault`.
 */
export function readJunit(content: string): EvalCase[] {
  const parser = sax.parser(true, parserOptions)
  const refuse = (detail: string): never => {
    throw new EvalFileFault([{ line: parser.line + 1, detail }])
  }
  const found = collectCases()
  const report = followReport(found, () => parser.line + 1)
  parser.onerror = ({ message }) => refuse(`not valid XML: ${message.split('\n')[0]}`)
  parser.ondoctype = () => refuse('a document type (<!DOCTYPE>) is not allowed: remove it')
  parser.onsgmldeclaration = () => refuse('a declaration (<!…>) is not allowed: remove it')
  const attributes = countAttributes()
  parser.onopentagstart = attributes.begin
  parser.onattribute = ({ name }) => attributes.add(name)
  parser.onopentag = (tag) => report.open(tag.name, textsOf(tag.attributes))
  parser.onclosetag = () => report.close()
  try {
    parser.write(content).close()
  } catch (error) {
    throw error instanceof ReportFault ? refuse(error.message) : error
  }
  if (!report.hasRoot()) refuse('expected a JUnit report, got no element')
  return found.end()
}

/** Only the entities of XML. The types of the library lack `strictEntities`. */
const parserOptions = { strictEntities: true, position: true }

/**
 * Counts the attributes of each element. The parser calls `hasOwnProperty` of the object that it
 * keeps attributes in, so that no attribute may have this name.
 */
function countAttributes() {
  let count = 0
  return {
    begin: () => {
      count = 0
    },
    add: (name: string) => {
      count += 1
      if (count > attributes_max) {
        throw new ReportFault(`expected at most ${attributes_max} attributes of an element`)
      }
      if (name === 'hasOwnProperty') throw new ReportFault(`the attribute ${name} is not allowed`)
    },
  }
}

type Texts = ReadonlyMap<string, string>

function textsOf(attributes: object): Texts {
  return new Map(Object.entries(attributes).map(([name, value]) => [name, String(value)]))
}

/** A structure that is not allowed in a JUnit report. */
class ReportFault extends Error {
  override readonly name = 'ReportFault'
}

/** A test case while its elements are read. `fields` has the form of a line of JSON lines. */
type OpenCase = {
  line: number
  outcome: 'passed' | 'failed' | 'skipped'
  fields: Record<string, unknown>
}

/** Properties of a test case that are fields of the case: true for numbers. */
const properties: ReadonlyMap<string, { isNumber: boolean }> = new Map([
  ['repeat', { isNumber: true }],
  ['cluster', { isNumber: false }],
  ['score', { isNumber: true }],
  ['cost_usd', { isNumber: true }],
])

const outcomes: ReadonlyMap<string, 'failed' | 'skipped'> = new Map([
  ['failure', 'failed'],
  ['error', 'failed'],
  ['skipped', 'skipped'],
])

/** Follows the elements of a report, and adds each test case at its end. */
function followReport(found: CaseCollector, line: () => number) {
  const path: string[] = []
  let roots = 0
  let current: OpenCase | undefined
  const open = (name: string, attributes: Texts) => {
    if (path.length === 0) roots = countRoot(name, roots)
    if (path.length >= depth_max) throw new ReportFault(`expected at most ${depth_max} levels`)
    path.push(name)
    if (name === 'testcase') {
      if (current !== undefined) throw new ReportFault('a <testcase> is inside another one')
      current = { line: line(), outcome: 'passed', fields: fieldsOf(attributes) }
      return
    }
    if (current !== undefined) noteInside(current, path, attributes)
  }
  const close = () => {
    if (path.pop() !== 'testcase' || current === undefined) return
    addCase(found, current)
    current = undefined
  }
  return { open, close, hasRoot: () => roots > 0 }
}

function countRoot(name: string, roots: number): number {
  if (roots > 0) throw new ReportFault(`expected one root element, got <${name.slice(0, 80)}> too`)
  if (name === 'testsuites' || name === 'testsuite') return 1
  throw new ReportFault(`expected <testsuites> or <testsuite>, got <${name.slice(0, 80)}>`)
}

function fieldsOf(attributes: Texts): Record<string, unknown> {
  const [of, name] = [attributes.get('classname') ?? '', attributes.get('name') ?? '']
  const seconds = numberFrom(attributes.get('time') ?? '')
  return {
    case_id: of === '' ? name : `${of}.${name}`,
    name: of === '' ? null : of,
    // Some tools write times with a comma; such a case has no duration.
    duration_ms: typeof seconds === 'number' ? seconds * 1_000 : null,
  }
}

/** Notes an element of a test case: its outcome, or one of its properties. */
function noteInside(current: OpenCase, path: readonly string[], attributes: Texts): void {
  const [parent, name] = path.slice(-2)
  if (parent === 'testcase') {
    const outcome = outcomes.get(name ?? '')
    // A failure counts more than a skip: a case can have both.
    if (outcome !== undefined && current.outcome !== 'failed') current.outcome = outcome
  }
  if (parent !== 'properties' || name !== 'property') return
  const [field, value] = [attributes.get('name') ?? '', attributes.get('value') ?? '']
  const property = properties.get(field)
  if (property === undefined) return
  current.fields[field] = property.isNumber ? numberFrom(value) : value
}

/** Returns the number in a decimal text, or the text itself, which number fields refuse. */
function numberFrom(text: string): number | string {
  return /^\d{1,15}(\.\d{1,20})?$/.test(text) ? Number(text) : text
}

function addCase(found: CaseCollector, { line, outcome, fields }: OpenCase): void {
  const passed = outcome === 'skipped' ? null : outcome === 'passed'
  found.add(line, { ...fields, passed })
}
