import type { ToolUse } from '../reconstruction/contract.ts'
import { remember } from './remember.ts'

const name_chars_max = 128

/** The words of a tool's name in lower case: `mcp__jira__getIssue` is mcp, jira, get, issue. */
export function wordsOfTool(name: string): readonly string[] {
  return name
    .slice(0, name_chars_max)
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
}

/** The arguments of a call as an object; empty when they are none. */
export const argumentsOf = remember((use: ToolUse): Readonly<Record<string, unknown>> => {
  if (use.arguments === null || !use.arguments.trimStart().startsWith('{')) return {}
  try {
    const parsed: unknown = JSON.parse(use.arguments)
    return isRecord(parsed) ? parsed : {}
  } catch {
    return {}
  }
})

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const shells = new Set(
  'bash sh zsh shell terminal console powershell ssh tmux repl ipython jupyter notebook'.split(' '),
)
const runners = new Set('exec execute run command cmd code python interpreter process'.split(' '))
const commandKeys = ['command', 'cmd', 'script', 'code', 'commands', 'input']

/** What a tool that runs commands or code was given; undefined for other tools. */
export function commandOf(use: ToolUse): string | undefined {
  const words = wordsOfTool(use.name)
  const isShell = words.some((word) => shells.has(word))
  if (!isShell && !words.some((word) => runners.has(word))) return undefined
  const given = argumentsOf(use)
  for (const key of commandKeys) {
    const value = given[key]
    if (typeof value === 'string') return value
    if (Array.isArray(value)) return value.filter((part) => typeof part === 'string').join(' ')
  }
  return isShell ? (use.arguments ?? '') : undefined
}
