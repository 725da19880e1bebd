/** Stored for tasks and eval runs without an environment; a name has at least one character. */
const noEnvironment = ''

/** Returns an environment as it is stored. */
export function toStoredEnvironment(name: string | null): string {
  return name ?? noEnvironment
}

/** Returns the name of a stored environment; null for none. */
export function toEnvironmentName(stored: string): string | null {
  return stored === noEnvironment ? null : stored
}

/** Returns a stored environment as the end of a sentence. */
export function describeEnvironment(stored: string): string {
  return stored === noEnvironment ? 'without an environment' : `in ${stored}`
}
