/* A file of which the page shows a part. */

// region mean
double mean(int n, const double *numbers)
{
    double total = 0;
    for (int i = 0; i < n; i++) total += numbers[i];
    return total / n;
}
// endregion
