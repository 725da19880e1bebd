/** The user `nobody` of Debian. */
const nobody = 65_534

/** Returns the user for programs that refuse to run under root, as options of `spawn`. */
export function unprivilegedUser(): { uid?: number; gid?: number } {
  return process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {}
}
