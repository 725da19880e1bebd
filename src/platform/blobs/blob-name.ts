/** S3 takes 1,024 bytes, of which a prefix takes some; a folder's file name 255. */
const characters_max = 700
const part_max = 200

/**
 * Throws TypeError unless the name is parts of lower-case letters, digits, `.`, `_`, `-` and `=`,
 * with `/` between them: so it is a path below the store's place on every driver.
 */
export function assertBlobName(name: string): void {
  const parts = name.split('/')
  if (name.length <= characters_max && parts.every(isPart)) return
  const shown = JSON.stringify(name.slice(0, 80))
  throw new TypeError(`got the blob name ${shown}, expected parts of a-z, 0-9, ".", "_" and "-"`)
}

function isPart(part: string): boolean {
  return part.length <= part_max && /^[a-z0-9_][a-z0-9._=-]*$/.test(part)
}

/** The same for a prefix, which may end anywhere and be empty. */
export function assertBlobPrefix(prefix: string): void {
  const whole = prefix.replace(/\/$/, '')
  if (whole !== '') assertBlobName(whole)
}
