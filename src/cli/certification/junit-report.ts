import {
  type CertificationAnswer,
  type GateAnswer,
  isGating,
  limitText,
  measuredText,
  obstaclesText,
} from './certification-answer.ts'

/**
 * Formats a certification as a JUnit report: a test case for each gate, and one for the verdict. A failed gate is
 * a failure and an inconclusive one an error; advisory gates never fail.
 */
export function junitReport(certification: CertificationAnswer): string {
  const { gates, result, release } = certification
  const cases = [...gates.map(gateCase), verdictCase(certification)]
  const count = (element: string) => cases.filter((one) => one.includes(`<${element} `)).length
  const suite = attributes({
    name: `release certification ${release.name}@${release.version}`,
    tests: cases.length,
    failures: count('failure'),
    errors: count('error'),
    skipped: count('skipped'),
  })
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites><testsuite ${suite}>`,
    `<properties>${properties(certification)}</properties>`,
    ...cases,
    `</testsuite></testsuites><!-- ${result === 'certified' ? 'certified' : 'not certified'} -->`,
    '',
  ].join('\n')
}

function properties({ certification_id, policy, subject, environment }: CertificationAnswer) {
  const shown = {
    certification_id,
    subject,
    environment: environment ?? '',
    policy: `${policy.id} ${policy.version}`,
    policy_digest: policy.digest,
  }
  return Object.entries(shown)
    .map(([name, value]) => `<property ${attributes({ name, value })}/>`)
    .join('')
}

function gateCase(gate: GateAnswer): string {
  const { metric, kind, tier, verdict, reason, group } = gate
  const name = [`${metric} ${kind}`, ...(group === null ? [] : [group]), tier].join(' · ')
  const measured = `${measuredText(gate)}, expected ${limitText(gate)}, n = ${gate.n}`
  const message = `${verdict}: ${measured}${reason === null ? '' : ` (${reason})`}`
  return testCase(name, elementOf(gate), message)
}

/** Returns the element of a gate that did not pass. */
function elementOf(gate: GateAnswer): string | undefined {
  if (gate.verdict === 'passed') return undefined
  if (!isGating(gate)) return 'skipped'
  return gate.verdict === 'failed' ? 'failure' : 'error'
}

function verdictCase(certification: CertificationAnswer): string {
  const { result } = certification
  const element = result === 'certified' ? undefined : result === 'rejected' ? 'failure' : 'error'
  const why = obstaclesText(certification)
  return testCase('verdict', element, why === '' ? result : `${result}: ${why}`)
}

function testCase(name: string, element: string | undefined, message: string): string {
  const inside = element === undefined ? '' : `<${element} ${attributes({ message })}/>`
  return `<testcase ${attributes({ classname: 'looptrace.certify', name })}>${inside}</testcase>`
}

function attributes(values: Readonly<Record<string, string | number>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}="${escapeXml(String(value))}"`)
    .join(' ')
}

/**
 * Escapes a text for an attribute of XML 1.0. Characters that no document may have, such as U+0000, are
 * replaced by U+FFFD.
 */
export function escapeXml(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replaceAll(/[&<>"'\t\n\r]/g, (character) => `&#${character.charCodeAt(0)};`)
}
