/** Puts # in the place of what differs each time though nothing else does; thin for now. */
export function maskVolatile(text: string): string {
  return text
}
