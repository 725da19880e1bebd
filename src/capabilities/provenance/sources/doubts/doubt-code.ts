import { compact } from '../../text/index.ts'
import type { Value } from '../../values/index.ts'
import type { Context } from '../lookup/operands.ts'
import { shapeOf } from '../seen/seen-traits.ts'
import { type Doubt, sentenceBefore } from './doubt.ts'
import { isSlip } from './slips.ts'

const placeholder =
  /^(?:https?:\/\/)?(?:localhost|127\.|0\.0\.0\.0|10\.|192\.168\.|169\.254\.|::1|[\w.-]*\bexample\.(?:com|org|net|edu)|[\w.@-]*\byour|[^/]*[<{]|[\w.-]+\.(?:local|invalid))/i

/** Returns why an id, a URL, an address or a version that was not found may be right. */
export function doubtCode(
  value: Value,
  { index, text: answer }: Context,
  letters: string,
  sentence: string,
): Doubt | undefined {
  const { kind, text } = value
  if (kind === 'url') return doubtUrl(text, index)
  if (kind === 'email') return doubtEmail(text, index)
  if (kind === 'version') return doubtVersion(value, answer, index)
  const after = answer.slice(value.at[1], value.at[1] + after_chars)
  if (isDenied(sentence, after)) return 'hypothetical'
  return doubtId(text, letters, sentence, index)
}

function doubtId(
  text: string,
  letters: string,
  sentence: string,
  index: Context['index'],
): Doubt | undefined {
  if (isLineNumber(text, index) || continues(text, sentence)) return 'calculable'
  if (isOtherYear(text, index)) return 'calculable'
  if (nextWord.test(sentence) && isNear(text, index, series_max)) return 'calculable'
  if (isReformed(text, index)) return 'calculable'
  if (phone.test(text) || isSlip(letters, index.traits.codes)) return undefined
  if (thing.test(sentence) && !publicPrefix.test(text)) return undefined
  // Ids of models have few digits, and may resemble other models.
  const hasShape = index.traits.shapes.has(shapeOf(text)) && /\p{L}/u.test(text)
  const isOwn = (hasShape && /\d{3}/.test(text)) || ticket.test(text)
  return isOwn && !publicPrefix.test(text) ? undefined : 'general'
}

/** Words before an id that say what it names: a thing of the user, not of the public. */
const thing =
  /(?<!\p{L}|\p{Lu}{2,} |\d )(?:code|password|passwort|pin|voucher|coupon|reference|ref|ticket|booking|order|commit|tracking|account|gate|shelf|seat|room|invoice|case|number|no|id|serial|policy|confirmation|bestellung|rechnung|nummer|buchung|commande|facture|pedido|factura)\.?\s?(?:is|:|was|ist|est|es)?[\s:#`"“*(]{0,4}$/iu

/** Words of advice to use a public version. */
const advice = /(?<!\p{L})(?:updat\w*|upgrad\w*|install\w*|use)(?: to)? ?`?$/iu

/** Versions of public software may be general knowledge, unless the agent looked versions up. */
function doubtVersion(
  value: Value,
  answer: string,
  { values }: Context['index'],
): Doubt | undefined {
  if (isOutline(value, answer)) return 'coarse'
  if (advice.test(sentenceBefore(answer, value))) return 'general'
  return values.some((seen) => seen.value.kind === 'version') ? undefined : 'general'
}

const after_chars = 24
const denial =
  /(?<!\p{L})(?:no|not|isn't|aren't|without|instead of|kein\w*|nicht|pas|aucun\w*|ningún|no hay)(?!\p{L})[^.!?\n]{0,30}$/iu

/** Tells whether the answer asks about an id, or denies that it exists. */
function isDenied(before: string, after: string): boolean {
  return (
    denial.test(before) ||
    /^[^.!\n]{0,20}\?|^\W{0,3}(?:does not|doesn't|is not|isn't|existiert nicht|gibt es nicht|n'existe|no existe)/i.test(
      after,
    )
  )
}

/** A section of the answer's own outline. */
function isOutline({ at: [start], text: version }: Value, answer: string): boolean {
  const isFirst = /(?:^|\n)[\s#>*|-]*$/.test(answer.slice(Math.max(0, start - 12), start))
  return isFirst || version.split('.').length < 3
}

/** An international or American number, or two groups of a bank account. */
const phone =
  /^\+\d{1,3}[ ()/-]{0,3}\d|^(?:1[-. ])?\(?\d{3}\)?[-. ]{1,2}\d{3}[-.]\d{4}$|^\d{2}-\d{2}-\d{2} \/ \d{6,10}$/

/** An id of one organisation: capitals, a hyphen, four digits or more. */
const ticket = /^(?:\p{Lu}{2,6}-){1,3}\d{4,12}$|^\p{Lu}-\d{5,12}$|^\p{Lu}{1,4}-20\d\d-\d{3,8}$/u
/** Prefixes of standards, advisories, error codes, parts and models that are public. */
const publicPrefix =
  /^(?:CVE|GHSA|CWE|RFC|ISO|IEC|IEEE|EN|DIN|BS|SN|NF|UNI|JIS|GB|ASTM|ANSI|FIPS|NIST|MIL|DO|UL|UN|EC|EU|KB|MS|ORA|SQLSTATE|HTTP|ERR|TS|PEP|JEP|JSR|PCI|SOC|ICD|ATC|CAS|EAN|UTF|CP|GMT|UTC|ES|TLS|SSL|AES|SHA|RSA|MD|CR|LR|SR|BC|LM|NE|RTX|GTX|GPT|WH|WF|SM|DDR|LPDDR|PC|USB|HDMI|COVID|MODEL|FY|KW|W|Q|H|LMV|ECE|MD|CE|FAR|CFR|JAR|AC|AD)(?:-|\d|$)/

/** Returns whether the text is a line number, which may be counted or read from a listing. */
function isLineNumber(text: string, { texts }: Context['index']): boolean {
  const line = /[./]\w+:(\d+)(?::\d+)?$/.exec(text)?.[1]
  if (line === undefined) return false
  const pattern = new RegExp(`(?<!\\d)${line}(?!\\d)`)
  return texts.some((one) => pattern.test(one.text))
}

const nextWord =
  /(?<!\p{L})(?:next|following|through|until|up to|to|next one|nächst\w*|folgend\w*|bis|suivant\w*|prochain\w*|siguiente\w*|hasta)\P{L}{0,4}(?:\p{L}+\W{1,3}){0,3}$|[-–—…→]\s?$/iu
/** Tells whether an id follows another id in its sentence, the nearest before it: A-2042 behind A-2041. */
function continues(text: string, sentence: string): boolean {
  const [, stem = '', digits = ''] = /^(.*?)(\d{1,15})$/.exec(text) ?? []
  const before = sentence.slice(-60)
  return (
    digits !== '' &&
    before.includes(`${stem}${String(Number(digits) - 1).padStart(digits.length, '0')}`)
  )
}

/** Tells whether an id is a seen one of another year: `orders_2026`. */
function isOtherYear(text: string, { values }: Context['index']): boolean {
  const plain = text.replace(/20\d\d/, '')
  if (plain === text) return false
  return values.some(
    ({ value }) =>
      value.kind === 'id' && value.text !== plain && value.text.replace(/20\d\d/, '') === plain,
  )
}

/** Difference of ids up to which they are of one series. */
const series_max = 10

/** Tells whether an id continues a series of seen ones. */
function isNear(text: string, { values }: Context['index'], max: number): boolean {
  const [, stem = '', digits = ''] = /^(.*?)(\d{1,15})$/.exec(text) ?? []
  if (digits === '') return false
  return values.some(({ value: { kind, text: other } }) => {
    if (kind !== 'id' || !other.startsWith(stem)) return false
    const rest = other.slice(stem.length)
    return /^\d+$/.test(rest) && Math.abs(Number(rest) - Number(digits)) <= max
  })
}

/** Tells whether all long figures of an id were seen: it has another prefix, or joins two ids. */
function isReformed(text: string, { texts }: Context['index']): boolean {
  const runs = (text.match(/\d{3,}/g) ?? []).filter((run) => !/^20[0-4]\d$/.test(run))
  const isSeen = (run: string) => {
    const whole = new RegExp(`(?<!\\d)0*${run.replace(/^0+/, '')}(?!\\d)`)
    return texts.some((one) => whole.test(one.text))
  }
  return runs.length > 0 && runs.every(isSeen)
}

/** Hosts of documentation, code and institutions that everyone may know. */
const publicHost =
  /(?:^|\.)(?:wikipedia\.org|github\.com|github\.io|gitlab\.com|python\.org|readthedocs\.io|mozilla\.org|w3\.org|ietf\.org|rfc-editor\.org|kubernetes\.io|docker\.com|nodejs\.org|npmjs\.com|pypi\.org|crates\.io|docs\.rs|rust-lang\.org|go\.dev|postgresql\.org|mysql\.com|redis\.io|microsoft\.com|google\.com|apple\.com|amazon\.com|stackoverflow\.com|gov|gov\.[a-z]{2}|europa\.eu|who\.int|admin\.ch|bund\.de|youtube\.com|openstreetmap\.org)$/i

/** Hosts of the user are checked to the letter; the address of others may be general knowledge. */
function doubtUrl(text: string, { texts }: Context['index']): Doubt | undefined {
  if (placeholder.test(text)) return 'general'
  const [, host = '', path = ''] = /^(?:https?:\/\/)?([^/?#:]+)(?::\d+)?(.*)$/i.exec(text) ?? []
  const has = (part: string) => texts.some((one) => one.findCompact(compact(part)) !== undefined)
  const isOwn = has(host) || texts.some((one) => hasHost(one.text, host))
  if (path.replace(/\/$/, '') === '' && !isOwn) return 'general'
  // The number of an issue or an article is looked up, not known.
  if (publicHost.test(host)) return /[-=/]\d{4,}/.test(path) ? undefined : 'general'
  const isNamed = isOwn || has(host.split('.').at(-2) ?? '') || /[-=/]\d{4,}/.test(path)
  if (!isNamed) return 'general'
  // An address that is put together from seen parts.
  const parts = path
    .split(/[/?#&=]/)
    .filter((part) => /\d|.{12}/.test(part) && !/^v\d$/i.test(part))
  // An id of a seen address, or of a seen host, is put together, not invented.
  return parts.length > 0 && parts.every(has) && !(isOwn && !/\d/.test(path))
    ? 'calculable'
    : undefined
}

/** Tells whether a text has a host, or one that begins like it: a look-alike of the user's own. */
function hasHost(text: string, host: string): boolean {
  const hosts = text.match(/(?<=\/\/|@)[\w-]+(?:\.[\w-]+)+/g) ?? []
  return hosts.some((one) => host === one || host.endsWith(`.${one}`) || host.startsWith(`${one}.`))
}

const roles =
  /^(?:info|support|help|hello|contact|sales|service|office|mail|admin|team|billing|noreply|no-reply|privacy|security|hr|jobs|kontakt|kundenservice)$/i

/** Returns why an e-mail may be right: a role, or an address of a domain that was not seen. */
function doubtEmail(text: string, { texts }: Context['index']): Doubt | undefined {
  const [name = '', domain = ''] = text.split('@')
  const has = (part: string) => texts.some((one) => one.findCompact(compact(part)) !== undefined)
  if (placeholder.test(domain)) return 'general'
  if (roles.test(name)) return has(domain) ? 'calculable' : 'general'
  // Addresses of persons follow a form.
  return has(domain) && name.split(/[._+-]/).every(has) ? 'calculable' : undefined
}
