import { printable } from '../../kernel/printable.ts'
import {
  type CertificationAnswer,
  type GateAnswer,
  limitText,
  measuredText,
  obstaclesText,
} from './certification-answer.ts'

const signs: Readonly<Record<string, string>> = {
  certified: '✅',
  passed: '✅',
  rejected: '❌',
  failed: '❌',
}

/** Formats a certification as Markdown for a comment or the summary of a pipeline. */
export function markdownReport(certification: CertificationAnswer): string {
  const { release, environment, policy, result, window, attempt, ledger } = certification
  const why = obstaclesText(certification)
  const rows = certification.gates.map(gateRow)
  return [
    `## ${signs[result] ?? '⚠️'} ${literal(`${release.name}@${release.version}`)}: ${literal(result)}`,
    '',
    `${environment === null ? 'No environment' : `Environment ${literal(environment)}`}, policy ${literal(`${policy.id} ${policy.version}`)}, ` +
      `window ${literal(window.from)} to ${literal(window.to)}, ` +
      `look ${attempt ?? 0} of ${certification.max_attempts}.`,
    '',
    ...(why === '' ? [] : [`Not certified because of: ${literal(why)}`, '']),
    ...(rows.length === 0 ? [] : [...tableHead, ...rows, '']),
    ...(ledger === null
      ? []
      : [
          `Records: ${ledger.accepted} accepted, ${ledger.lost} lost, ${ledger.pending} pending.`,
          '',
        ]),
    `Subject ${literal(certification.subject)}, certification ${literal(certification.certification_id)}.`,
    '',
  ].join('\n')
}

const tableHead = [
  '| gate | tier | measured | limit | samples | verdict |',
  '|---|---|---|---|---|---|',
]

function gateRow(gate: GateAnswer): string {
  const { metric, kind, tier, group, n, clusters, verdict, reason } = gate
  const name = `${metric} ${kind}${group === null ? '' : `: ${group}`}`
  const why = reason === null ? '' : ` ${literal(reason)}`
  const cells = [
    ...[literal(name), literal(tier), literal(measuredText(gate)), literal(limitText(gate))],
    `${n} of ${clusters} users`,
    `${signs[verdict] ?? '⚠️'} ${literal(verdict)}${why}`,
  ]
  return `| ${cells.join(' | ')} |`
}

/**
 * Formats a text as code that has no structure of Markdown: all but letters and digits of ASCII are
 * character references, which form no tag, link, cell or emphasis. Mentions in code send no notification.
 */
export function literal(text: string): string {
  const references = printable(text.toWellFormed()).replaceAll(
    /[^A-Za-z0-9 ]/gu,
    (character) => `&#${character.codePointAt(0)};`,
  )
  return `<code>${references}</code>`
}
