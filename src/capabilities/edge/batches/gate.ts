/** Lets so much in at one time and no more. */
export type Gate = {
  /** Takes room for so many; false when there is none. A first one gets in, however large it is. */
  enter(amount: number): boolean
  leave(amount: number): void
}

export function createGate(amount_max: number): Gate {
  let taken = 0
  return {
    enter: (amount) => {
      if (taken > 0 && taken + amount > amount_max) return false
      taken += amount
      return true
    },
    leave: (amount) => {
      taken -= amount
    },
  }
}
