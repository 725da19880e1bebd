import type { ToolFault } from './contract.ts'

/** How a tool's use failed, read from its result; thin for now. */
export function faultIn(
  text: string,
  { is_error }: { is_error: boolean | undefined; tool: string },
): ToolFault | null {
  return is_error || /^\s*(\w*Error|ERROR|error):/.test(text) ? 'error' : null
}
