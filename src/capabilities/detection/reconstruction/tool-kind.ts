/**
 * What a tool's texts are worth: those of a `reader` quote what others wrote (files, logs, pages,
 * search results), so that their words say nothing of how the tool went; a `shell` says it by exit
 * codes.
 */
export type ToolKind = 'reader' | 'shell' | 'other'

/** Told by the tool's name; for a shell by the command that stands first in its arguments. */
export function toolKindOf(tool: string, args: string): ToolKind {
  const words = tool
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
  if (words.some((word) => shells.has(word))) return readsOnly(args) ? 'reader' : 'shell'
  return words.some((word) => readers.has(word)) ? 'reader' : 'other'
}

const shells = new Set(['bash', 'shell', 'sh', 'exec', 'execute', 'terminal', 'command', 'cmd'])
const readers = new Set([
  'read',
  'cat',
  'view',
  'open',
  'grep',
  'search',
  'find',
  'fetch',
  'browse',
  'log',
  'logs',
  'tail',
  'show',
  'diff',
  'scrape',
  'retrieve',
  'history',
])

/** Commands that print what others wrote, as the first word of the command. */
const readingCommand =
  /^\s*\{?\s*(?:"(?:command|cmd|script|input|code)"\s*:\s*)?\[?"?\s*(?:sudo )?(?:cat|tail|head|less|more|grep|rg|ag|sed -n|awk|journalctl|dmesg|git (?:log|show|diff|blame|grep)|kubectl logs|docker logs|find)\b/

function readsOnly(args: string): boolean {
  return readingCommand.test(args.slice(0, 200))
}
