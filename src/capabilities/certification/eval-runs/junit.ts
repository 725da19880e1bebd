import sax from 'sax'
import {
  type CaseCollector,
  collectCases,
  type EvalFile,
  EvalFileFault,
  quoted,
  repeats_max,
} from './read-cases.ts'

/** Maximum depth of elements. Reports of test tools have up to six. */
const depth_max = 32

/**
 * Reads a JUnit report: each `<testcase>` is a case with the id `classname.name`. `<failure>` and
 * `<error>` fail it, `<skipped>` leaves it out. A case that runs several times has the number of the
 * run in the property `repeat` of the test case. Messages and outputs are ignored. A document type is
 * refused, so that no entity is declared or expanded. Throws `EvalFileFault`.
 */
export function readJunit(content: string): EvalFile {
  const parser = sax.parser(true, parserOptions)
  const refuse = (detail: string): never => {
    throw new EvalFileFault([{ line: parser.line + 1, detail }])
  }
  const found = collectCases()
  const report = followReport(found, () => parser.line + 1)
  parser.onerror = ({ message }) => refuse(`not valid XML: ${message.split('\n')[0]}`)
  parser.ondoctype = () => refuse('a document type (<!DOCTYPE>) is not allowed: remove it')
  parser.onsgmldeclaration = () => refuse('a declaration (<!…>) is not allowed: remove it')
  parser.onopentag = ({ name, attributes }) => report.open(name, textsOf(attributes))
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

type Texts = ReadonlyMap<string, string>

function textsOf(attributes: object): Texts {
  return new Map(Object.entries(attributes).map(([name, value]) => [name, String(value)]))
}

/** A structure that no JUnit report has. */
class ReportFault extends Error {
  override readonly name = 'ReportFault'
}

/** A test case while its elements are read. */
type OpenCase = {
  line: number
  id: string
  outcome: 'passed' | 'failed' | 'skipped'
  repeat: string
}

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
      current = { line: line(), id: idOf(attributes), outcome: 'passed', repeat: '1' }
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

function idOf(attributes: Texts): string {
  const [of, name] = [attributes.get('classname') ?? '', attributes.get('name') ?? '']
  return of === '' ? name : `${of}.${name}`
}

/** Notes an element of a test case: its outcome, or its property `repeat`. */
function noteInside(current: OpenCase, path: readonly string[], attributes: Texts): void {
  const [parent, name] = path.slice(-2)
  if (parent === 'testcase') {
    const outcome = outcomes.get(name ?? '')
    // A failure counts more than a skip: a case can have both.
    if (outcome !== undefined && current.outcome !== 'failed') current.outcome = outcome
  }
  if (parent === 'properties' && name === 'property' && attributes.get('name') === 'repeat') {
    current.repeat = attributes.get('value') ?? ''
  }
}

function addCase(found: CaseCollector, { line, id, outcome, repeat: text }: OpenCase): void {
  const repeat = /^[1-9]\d{0,2}$/.test(text) ? Number(text) : 0
  if (outcome === 'skipped') {
    found.skip()
  } else if (repeat < 1 || repeat > repeats_max) {
    const expected = `expected a whole number from 1 to ${repeats_max}`
    found.fault(line, `the property repeat is ${quoted(text)}, ${expected}`)
  } else {
    found.add(line, { case_id: id, repeat, passed: outcome === 'passed', score: null })
  }
}
