import type { z } from 'zod'
import type { Ask } from './ask.ts'

/** A tool that reads. `run` returns the data of the answer; it throws `ToolFault`. */
export type Tool = {
  name: string
  title: string
  description: string
  input: z.ZodObject
  /** How to get what an answer leaves out. */
  more: string
  run(input: unknown, ask: Ask): Promise<unknown>
}

type ToolDefinition<I extends z.ZodObject> = Omit<Tool, 'input' | 'run'> & {
  input: I
  run(input: z.output<I>, ask: Ask): Promise<unknown>
}

/** Creates a tool of its definition. */
export function defineTool<I extends z.ZodObject>(definition: ToolDefinition<I>): Tool {
  const { input, run } = definition
  return { ...definition, run: (given, ask) => run(input.parse(given), ask) }
}
