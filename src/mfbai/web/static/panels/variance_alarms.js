// Variance alarms: hidden while there are none, hard to miss otherwise.

import { makeAlarms } from "./alarms.js";

export const makePanel = () =>
  makeAlarms(
    "variance",
    "⚠ The results vary more than was stated",
    "The [family] of this study states how much values vary around their average. Here they vary more. What is proven " +
      "on this page rests on it: do not rely on it. Create another study that states a larger variance, or whose " +
      "family needs none, such as “symmetric” ([varianceAlarm|variance alarm]).",
    (view) => view.variance_alarms,
  );
