import { printable } from '../../kernel/printable.ts'
import type { CommandIo } from '../command.ts'
import type { LocatedFault } from './rule-files.ts'
import type { TestResult } from './run-test.ts'

/** The results of a test file. */
export type FileReport = {
  file: string
  faults: readonly LocatedFault[]
  tests: readonly TestReport[]
}

/** The result of a test, with the places of its failures. */
export type TestReport = Omit<TestResult, 'failures'> & {
  failures: readonly {
    line: number
    column: number
    title: string
    differences: readonly string[]
  }[]
  duration_ms: number
}

/** Formats results for people: a line for each test, and the timeline of those that fail. */
export function textReport(files: readonly FileReport[], io: Pick<CommandIo, 'styled'>): string {
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
export function junitReport(files: readonly FileReport[]): string {
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
