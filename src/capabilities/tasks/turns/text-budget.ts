/** A text of a reply: whole, or its beginning. */
type CutText = { text: string; characters: number; cut: boolean }

/** Cuts the texts of one turn. */
export type TextBudget = {
  /**
   * Returns the beginning of a text. `characters` is the length of the whole text, where the given
   * one is already cut.
   */
  cut(text: string, characters?: number): CutText
  /** Characters given out. */
  readonly spent: number
}

/** Characters that each text keeps after the budget of its turn is spent. */
const rest_chars = 200

/** Creates the budget of a turn: characters of each text, and of all texts together. */
export function createTextBudget(limits: { text_chars: number; turn_chars: number }): TextBudget {
  let spent = 0
  return {
    cut: (text, characters = text.length) => {
      const left = Math.max(rest_chars, limits.turn_chars - spent)
      const held = cutAt(text, Math.min(limits.text_chars, left))
      spent += held.length
      return { text: held, characters, cut: held.length < characters }
    },
    get spent() {
      return spent
    },
  }
}

/** Returns the first characters, without half of a surrogate pair. */
function cutAt(text: string, chars: number): string {
  if (text.length <= chars) return text
  const last = text.charCodeAt(chars - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? chars - 1 : chars)
}
