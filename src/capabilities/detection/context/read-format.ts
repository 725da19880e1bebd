import type { Instruction } from './instruction.ts'
import type { Statement } from './ledger.ts'

/** Reads what an answer should look like: JSON, plain text, bullets, no emoji, one case of letters. */
export function readFormat({ sentence, body, is_lasting }: Instruction): Statement[] {
  if (aboutSomethingElse.test(sentence)) return []
  const found: Statement[] = []
  for (const { pattern, slot, value } of forms) {
    if (!pattern.test(body)) continue
    const strict =
      value === 'json' && /\b(?:only|exclusively|nothing (?:else|but)|no other|raw)\b/i.test(body)
    const holds = is_lasting ? 'always' : 'turn'
    found.push({
      kind: 'format',
      slot,
      value: strict ? 'json_only' : value,
      holds,
      quote: sentence,
    })
    break
  }
  return found
}

/** Rules on what an agent makes (files, commits, arguments, its reasoning) are not on its answers. */
const aboutSomethingElse =
  /\b(?:commits?|docstrings?|files?|functions?|arguments?|parameters?|fields?|tools?|tool calls?|code|comments?|scripts?|titles?|subjects?|variables?|thoughts?|reasoning|plan|readme|tests?|api|endpoint|database|query|input)\b/i

const say =
  '(?:answer|reply|respond|output|return|write|format|give|provide|produce|use|keep|present|structure|speak)(?: (?:me|us|only|exclusively|always|strictly|to (?:me|us|the user|users|every \\p{L}+|all \\p{L}+)|your (?:whole )?(?:answers?|repl(?:y|ies)|responses?|output)|all (?:your )?(?:answers|replies|responses)|every (?:answer|reply|response|message)|everything|it|them|things)){0,4}'
const be =
  '(?:all|every|each|your|the)(?: (?:of your|your))?(?: (?:entire|whole))? (?:answers?|repl(?:y|ies)|responses?|messages?|output) (?:must|should|has to|have to|needs? to|is to|are to|shall|will)(?: (?:always|only))? be(?: (?:given|written|formatted|returned))?'
const no =
  "(?:do not|don't|never|no|avoid|without|stop)(?: (?:ever|use|using|write|writing|put|include|including|add|adding|any)){0,3}"

const rule = (source: string) => new RegExp(source, 'iu')

const forms: readonly { pattern: RegExp; slot: string; value: string }[] = [
  {
    pattern: rule(
      `^(?:only )?(?:${say}|${be})(?: (?:only|with|in|as|using|exclusively|a|an|single|one|valid|raw|strict|well-formed|pure)){0,5} json\\b(?! schema)`,
    ),
    slot: 'shape',
    value: 'json',
  },
  { pattern: /^(?:valid |raw )?json only\b/i, slot: 'shape', value: 'json' },
  { pattern: rule(`^${no} (?:markdown|formatting)\\b`), slot: 'shape', value: 'plain' },
  {
    pattern: rule(
      `^(?:${say}|${be})(?: (?:only|with|in|as|using)){0,3} (?:plain|unformatted) text\\b`,
    ),
    slot: 'shape',
    value: 'plain',
  },
  { pattern: /^plain text only\b/i, slot: 'shape', value: 'plain' },
  {
    pattern: rule(`^${no} (?:bullet(?:ed)?(?: points?| lists?|s)?|bullets|lists?)\\b`),
    slot: 'bullets',
    value: 'no_bullets',
  },
  {
    pattern: rule(
      `^(?:${say}|${be})(?: (?:only|with|in|as|using|a|short|brief)){0,4} (?:bullet(?:ed)?(?: points?| lists?|s)|bullets|numbered (?:list|points?))\\b`,
    ),
    slot: 'bullets',
    value: 'bullets',
  },
  {
    pattern: rule(
      `^(?:${say}|${be})(?: (?:only|with|in|as|using|a|an|markdown|html)){0,4} tables?\\b`,
    ),
    slot: 'shape',
    value: 'table',
  },
  { pattern: rule(`^${no} emojis?\\b`), slot: 'emoji', value: 'none' },
  {
    pattern: rule(`^${no} exclamation (?:marks?|points?)\\b`),
    slot: 'exclamation',
    value: 'none',
  },
  {
    pattern: rule(
      `^(?:${say}|${be})(?: (?:only|with|in|as|using|all|entirely|exclusively)){0,4} (?:lower ?case|lower-case|small letters)\\b`,
    ),
    slot: 'case',
    value: 'lower',
  },
  {
    pattern: rule(
      `^(?:${say}|${be})(?: (?:only|with|in|as|using|all|entirely|exclusively)){0,4} (?:upper ?case|upper-case|capital letters|caps|all[ -]caps|capitals)\\b`,
    ),
    slot: 'case',
    value: 'upper',
  },
  {
    pattern: rule(
      `^(?:${say})(?: (?:only|just|simply|with|either|a)){0,4} ["']?yes["']? or ["']?no\\b`,
    ),
    slot: 'shape',
    value: 'yes_no',
  },
  {
    pattern: /\b(?:dates?)\b.{0,40}\b(?:iso(?: ?8601)?|yyyy-mm-dd)\b/i,
    slot: 'dates',
    value: 'iso',
  },
  {
    pattern:
      /^(?:only )?(?:use|give|state|report|express)(?: \p{L}+){0,4} metric(?: units| system)?\b/iu,
    slot: 'units',
    value: 'metric',
  },
]
