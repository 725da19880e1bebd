import { RE2JS, RE2JSException } from 're2js'
import type { CapturePolicy, CaptureRules, Mask, Masker } from './contract.ts'

/** A mask can't be compiled; the message says why. */
export class InvalidMask extends Error {
  override readonly name = 'InvalidMask'
}

/** The default rules, which keep everything unchanged. */
export const defaultRules: CaptureRules = { content: 'full', sample_rate: 1, masks: [] }

/**
 * The policy of a project whose rules can't be read: it keeps no content, so that nothing is kept
 * by accident.
 */
export const unknownPolicy: CapturePolicy = {
  content: 'metadata_only',
  sample_rate: 1,
  masker: undefined,
  keeps_all: false,
  is_unknown: true,
}

/** Compiles rules. Throws InvalidMask. */
export function compilePolicy({ content, sample_rate, masks }: CaptureRules): CapturePolicy {
  return {
    content,
    sample_rate,
    masker: masks.length === 0 ? undefined : compileMasks(masks),
    keeps_all: content === 'full' && sample_rate >= 1 && masks.length === 0,
  }
}

/**
 * Most states of a compiled pattern. Run time is linear in the text and in the states; `\w{1000}`
 * alone has 1,001 states.
 */
const maxPatternStates = 5_000

/**
 * Compiles a pattern in RE2 syntax, which runs in linear time for any text
 * (https://github.com/google/re2/wiki/Syntax). Throws InvalidMask for a pattern that is invalid,
 * too large, or matches the empty text.
 */
export function compilePattern(pattern: string): RE2JS {
  const compiled = compileOrRefuse(pattern)
  if (compiled.programSize() > maxPatternStates) {
    throw new InvalidMask(
      `got a pattern of ${compiled.programSize()} states, expected at most ${maxPatternStates}: reduce repetitions`,
    )
  }
  if (compiled.test('')) {
    throw new InvalidMask(
      `got ${quoted(pattern)}, expected a pattern that does not match empty text`,
    )
  }
  return compiled
}

function compileOrRefuse(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern)
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error
    throw new InvalidMask(`got ${quoted(pattern)}, expected RE2 syntax: ${error.message}`, {
      cause: error,
    })
  }
}

function quoted(pattern: string): string {
  return JSON.stringify(pattern.slice(0, 80))
}

type CompiledPattern = { pattern: RE2JS; replacement: string }

function compileMasks(masks: readonly Mask[]): Masker {
  const byKey = new Map<string, string>()
  const patterns: CompiledPattern[] = []
  for (const { keys, pattern, replacement } of masks) {
    for (const key of keys ?? []) {
      if (!byKey.has(key.toLowerCase())) byKey.set(key.toLowerCase(), replacement)
    }
    if (pattern !== null) patterns.push({ pattern: compilePattern(pattern), replacement })
  }
  return {
    replacementOf: (key) => (byKey.size === 0 ? undefined : byKey.get(key.toLowerCase())),
    withoutMatches: (text) => withoutMatches(text, patterns),
  }
}

function withoutMatches(text: string, patterns: readonly CompiledPattern[]): string {
  let masked = text
  for (const { pattern, replacement } of patterns) {
    if (pattern.test(masked)) masked = pattern.matcher(masked).replaceAll(() => replacement)
  }
  return masked
}
