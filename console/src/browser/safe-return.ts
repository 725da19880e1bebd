/** Returns a path of this console to open after the sign-in. Other addresses become `/`. */
export function safeReturn(to: string | undefined): string {
  return to !== undefined && /^\/(?![/\\])/.test(to) ? to : '/'
}
