/**
 * Takes keys out of a text that is not content: our own (`lt_…`), bearer tokens and the shapes of
 * the providers' keys. Providers repeat a wrong key in their error messages.
 */
export function scrubbed(text: string): string {
  return text.replaceAll(secretShapes, '[redacted]')
}

const secretShapes =
  /\b(?:lt_[A-Za-z0-9_]{8,}|Bearer\s+[^\s"',;]+|(?:sk|gsk|xai|pk)[-_][A-Za-z0-9_*-]{8,}|AIza[A-Za-z0-9_-]{20,})/gi
