// A word that one page leaves for the next: "Deleted “a”."

let left = "";

export function leaveWord(text) {
  left = text;
}

export function takeWord() {
  const word = left;
  left = "";
  return word;
}
