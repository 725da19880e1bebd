import { projectKeyForm } from '../../../kernel/project-key-text.ts'

/** Values of metadata: short texts, numbers, flags. */
export type Metadata = Record<string, string | number | boolean>

/** Replaces a masked value. */
const mask = '[masked]'

/** Names of values that are masked in any form, because they are secrets or personal. */
const secretName =
  /pass(?:word|wd|phrase)?|secret|token|credential|authorization|cookie|session|private|api_?key|e_?mail/

/** Forms of secrets and of e-mail addresses. */
const secretForms: readonly RegExp[] = [
  projectKeyForm,
  /\b(?:sk|pk|rk|ghp|gho|ghu|ghs|ghr|github_pat|glpat|xox[abeprs]|AIza|hf|npm|dop_v1)[-_][A-Za-z0-9_-]{12,}/,
  /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/,
  /\beyJ[\w-]{8,}\.[\w-]{8,}/,
  /-----BEGIN /,
  /\b(?:bearer|basic)\s+\S{8,}/i,
  /:\/\/[^\s/@:]*:[^\s/@]+@/,
  /[^\s@]+@[^\s@]+\.[^\s@]+/,
]

/** A long word of letters and digits, as keys and tokens are. */
const opaqueWord = /[A-Za-z0-9+/=_-]{32,}/g
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Returns whether a text may be a secret or an e-mail address. */
export function isSecretLike(text: string): boolean {
  if (secretForms.some((form) => form.test(text))) return true
  const words = text.match(opaqueWord) ?? []
  return words.some((word) => !uuid.test(word) && /[0-9]/.test(word) && /[A-Za-z]/.test(word))
}

/** Masks values that may be secrets. Returns the names of the masked values, sorted. */
export function maskMetadata(metadata: Metadata): { metadata: Metadata; masked: string[] } {
  const masked = Object.keys(metadata).filter((name) => {
    const value = metadata[name]
    return secretName.test(name) || (typeof value === 'string' && isSecretLike(value))
  })
  const shown = Object.entries(metadata).map(([name, value]) => [
    name,
    masked.includes(name) ? mask : value,
  ])
  return { metadata: Object.fromEntries(shown), masked: masked.toSorted() }
}
