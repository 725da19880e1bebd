import { explainDetails } from './explain-details.ts'
import type {
  ExplainedUsage,
  ReportedUsage,
  Semantics,
  TokenBuckets,
  UsageDialect,
} from './reported-usage.ts'

/**
 * Converts reported counts to disjoint buckets that sum to the stated total. The dialect says which
 * counts include which; where the counts contradict it (more tokens cached than input, or a total
 * with the cached tokens or the reasoning on top), the counts decide. Tokens that only the total
 * has go to the side that is not stated, or where Gemini hides them; otherwise they are named in
 * `inconsistency`. A total alone is input of unknown split. Returns undefined without counts.
 */
export function explainUsage(
  reported: ReportedUsage,
  dialect: UsageDialect,
): ExplainedUsage | undefined {
  const counts = toCounts(reported)
  if (counts === undefined) return explainTotalAlone(reported)
  const { total } = reported
  const { cached, reasoning } = dialect
  const usual = readAs(counts, { read: cached, write: cached, reasoning })
  // Nearly all calls agree with their dialect, and need no other reading.
  if (usual !== undefined && (total === undefined || sumOf(usual) === total)) {
    return describe(reported, dialect, { reading: usual, missing: 0 })
  }
  const readings = listReadings(counts, dialect)
  const fitting = total === undefined ? undefined : readings.find((one) => sumOf(one) === total)
  const reading = fitting ?? clampedReading(counts, total) ?? bestReading(readings, dialect, total)
  const missing = total === undefined ? 0 : total - sumOf(reading)
  const placed = placeMissing(reading, { missing, reported, dialect })
  return describe(reported, dialect, placed)
}

type Counts = {
  input: number
  output: number
  cache_read: number
  cache_write: number
  reasoning: number
  tool_use_prompt: number
}

/** One way to understand the counts. */
type Reading = {
  input_uncached: number
  cache_read: number
  cache_write: number
  visible: number
  reasoning: number
  tool_use_prompt: number
  read: Semantics
  write: Semantics
}

function toCounts(reported: ReportedUsage): Counts | undefined {
  const { input, output, cache_read, cache_write, reasoning, tool_use_prompt } = reported
  const written = (reported.details?.cache_write_5m ?? 0) + (reported.details?.cache_write_1h ?? 0)
  const counts = {
    input: input ?? 0,
    output: output ?? 0,
    cache_read: cache_read ?? 0,
    cache_write: cache_write ?? written,
    reasoning: reasoning ?? 0,
    tool_use_prompt: tool_use_prompt ?? 0,
  }
  const isStated = input !== undefined || output !== undefined
  return isStated || sumOfParts(counts) > 0 ? counts : undefined
}

function sumOfParts({ cache_read, cache_write, reasoning, tool_use_prompt }: Counts): number {
  return cache_read + cache_write + reasoning + tool_use_prompt
}

function explainTotalAlone({ total }: ReportedUsage): ExplainedUsage | undefined {
  if (total === undefined || total === 0) return undefined
  return {
    buckets: { ...noTokens, input_uncached_tokens: total },
    details: { unsplit: total },
    has_input: true,
    has_output: false,
    usage_semantics: 'inclusive',
    is_implied: false,
    unclear: ['unsplit'],
    inconsistency: '',
  }
}

/** Buckets without tokens. */
export const noTokens: TokenBuckets = {
  input_uncached_tokens: 0,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  output_visible_tokens: 0,
  reasoning_tokens: 0,
}

const inOrder: Record<Semantics, readonly (readonly [read: Semantics, write: Semantics])[]> = {
  inclusive: [
    ['inclusive', 'inclusive'],
    ['exclusive', 'exclusive'],
    ['inclusive', 'exclusive'],
    ['exclusive', 'inclusive'],
  ],
  exclusive: [['exclusive', 'exclusive']],
}

/** Returns the possible readings, first those that agree with the dialect. */
function listReadings(counts: Counts, dialect: UsageDialect): Reading[] {
  const reasonings: readonly Semantics[] =
    dialect.reasoning === 'exclusive' ? ['exclusive'] : ['inclusive', 'exclusive']
  const readings: Reading[] = []
  for (const [read, write] of inOrder[dialect.cached]) {
    for (const reasoning of reasonings) {
      const one = readAs(counts, { read, write, reasoning })
      if (one !== undefined) readings.push(one)
    }
  }
  return readings
}

type Layout = { read: Semantics; write: Semantics; reasoning: Semantics }

/** Reads the counts in a layout; undefined when a part is larger than the count it lies in. */
function readAs(counts: Counts, { read, write, reasoning }: Layout): Reading | undefined {
  const ofRead = read === 'inclusive' ? counts.cache_read : 0
  const ofWrite = write === 'inclusive' ? counts.cache_write : 0
  const thought = reasoning === 'inclusive' ? counts.reasoning : 0
  const uncached = counts.input - ofRead - ofWrite
  if (uncached < 0 || thought > counts.output) return undefined
  return {
    input_uncached: uncached + counts.tool_use_prompt,
    cache_read: counts.cache_read,
    cache_write: counts.cache_write,
    visible: counts.output - thought,
    reasoning: counts.reasoning,
    tool_use_prompt: counts.tool_use_prompt,
    read,
    write,
  }
}

function sumOf(reading: Reading): number {
  const { input_uncached, cache_read, cache_write, visible, reasoning } = reading
  return input_uncached + cache_read + cache_write + visible + reasoning
}

/**
 * Returns a reading for more reasoning than output where the total has only the output: then the
 * count of the reasoning is too large.
 */
function clampedReading(counts: Counts, total: number | undefined): Reading | undefined {
  const { input, output, cache_read, cache_write, reasoning, tool_use_prompt } = counts
  const cached = cache_read + cache_write
  if (total !== input + output + tool_use_prompt || reasoning <= output || cached > input) {
    return undefined
  }
  return {
    input_uncached: input - cached + tool_use_prompt,
    cache_read,
    cache_write,
    visible: 0,
    reasoning: output,
    tool_use_prompt,
    read: 'inclusive',
    write: 'inclusive',
  }
}

const empty: Reading = {
  input_uncached: 0,
  cache_read: 0,
  cache_write: 0,
  visible: 0,
  reasoning: 0,
  tool_use_prompt: 0,
  read: 'inclusive',
  write: 'inclusive',
}

/** Returns the first reading; for Gemini the one with the thoughts on top, if the total has room. */
function bestReading(
  readings: readonly Reading[],
  dialect: UsageDialect,
  total: number | undefined,
): Reading {
  const [first = empty, second] = readings
  if (total === undefined || !dialect.has_hidden_tokens || second === undefined) return first
  const isOnTop = second.visible > first.visible && sumOf(second) < total
  return isOnTop ? second : first
}

type Placed = { reading: Reading; missing: number }

/** Adds tokens that only the total has to their bucket; `missing` is what no bucket can take. */
function placeMissing(
  reading: Reading,
  asked: { missing: number; reported: ReportedUsage; dialect: UsageDialect },
): Placed {
  const { missing, reported, dialect } = asked
  if (missing <= 0) return { reading, missing }
  if (reported.input === undefined) {
    return add(reading, { input_uncached: reading.input_uncached + missing })
  }
  if (dialect.has_hidden_tokens && reading.reasoning === 0) {
    return add(reading, { reasoning: missing })
  }
  if (dialect.has_hidden_tokens) {
    return add(reading, {
      input_uncached: reading.input_uncached + missing,
      tool_use_prompt: reading.tool_use_prompt + missing,
    })
  }
  if (reported.output === undefined) return add(reading, { visible: reading.visible + missing })
  return { reading, missing }
}

function add(reading: Reading, changed: Partial<Reading>): Placed {
  return { reading: { ...reading, ...changed }, missing: 0 }
}

function describe(
  reported: ReportedUsage,
  dialect: UsageDialect,
  { reading, missing }: Placed,
): ExplainedUsage {
  const buckets: TokenBuckets = {
    input_uncached_tokens: reading.input_uncached,
    cache_read_tokens: reading.cache_read,
    cache_write_tokens: reading.cache_write,
    output_visible_tokens: reading.visible,
    reasoning_tokens: reading.reasoning,
  }
  const { details, unclear } = explainDetails(reported.details ?? {}, {
    buckets,
    tool_use_prompt: reading.tool_use_prompt,
  })
  const hasBeside =
    (reading.read === 'exclusive' && reading.cache_read > 0) ||
    (reading.write === 'exclusive' && reading.cache_write > 0)
  const isExclusive = hasBeside || dialect.cached === 'exclusive'
  const isContradicted = missing > 0 || isTooSmall(reported, missing)
  return {
    buckets,
    details,
    has_input: reported.input !== undefined || inputOf(buckets) > 0,
    has_output: reported.output !== undefined || reading.visible + reading.reasoning > 0,
    usage_semantics: isExclusive ? 'exclusive' : 'inclusive',
    is_implied: hasBeside && dialect.cached === 'inclusive',
    unclear: missing > 0 ? [...unclear, 'total'] : unclear,
    inconsistency: isContradicted ? contradiction(reported, missing) : '',
  }
}

function inputOf(buckets: TokenBuckets): number {
  return buckets.input_uncached_tokens + buckets.cache_read_tokens + buckets.cache_write_tokens
}

/** Many clients compute a total of input and output without the parts beside them. */
function isTooSmall({ input = 0, output = 0, total }: ReportedUsage, missing: number): boolean {
  return missing < 0 && total !== input + output
}

function contradiction({ total = 0 }: ReportedUsage, missing: number): string {
  return `the total is ${total}, but the counts sum to ${total - missing}`
}
